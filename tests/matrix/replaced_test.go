package matrix

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestReplacedServers: a server is wiped, restored from an old backup, or hands out other sessions. No older session lives on
// after that; after the first two, servers refuse clients for ever that have seen a newer transaction. A holder, a waiter and
// an idle client of every kind of lock work again by themselves, within the session timeout and two seconds, and an observer
// is told who holds.
func TestReplacedServers(t *testing.T) {
	for _, r := range append([]*recipe{exclusiveLock}, recipes...) {
		if r.around != nil { // its subject waits for nobody
			continue
		}
		for _, how := range []string{"wiped", "restored", "swapped"} {
			t.Run(r.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { replaced(t, r, how) })
			})
		}
	}
}

func replaced(t *testing.T, r *recipe, how string) {
	server := scene.Virtual(t)
	estate := scene.NewEstate(server)
	join := func(lock kind) *player {
		client, err := locks.Open(scene.Deadline(t), scene.EstateAddress, locks.WithDialer(estate.Dial), locks.WithSessionTimeout(timeout))
		require.NoError(t, err)
		scene.CloseLater(t, client)
		return newPlayer(t, client, lock)
	}
	front, idle, subject := join(r.ahead), join(r.subject), join(r.subject)
	scene.GiveBack(t, idle.hold(t))
	before := front.hold(t)
	subject.wait(t)
	told, err := idle.client.Election(before.Path()).Observe(scene.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, before.Token(), scene.Receive(t, told).Token)
	synctest.Wait()

	back := time.Now()
	if how == "swapped" {
		estate.Swap()
	} else {
		server = scene.Virtual(t)
		line := &scene.Network{Server: server}
		if how == "restored" { // the lock is held in the backup by somebody who is dead, and whose session lives for its timeout more
			scene.Locked(t, r.ahead(scene.ClientOver(t, server, line)).Lock)
		}
		estate.Vacate()
		time.Sleep(timeout * 2 / 5)
		line.Be(scene.Down)
		back = time.Now()
		estate.Replace(server)
	}
	within := back.Add(timeout + 2*time.Second) // the first tick after the timeout of a session that is left, and to connect
	scene.AwaitLost(t, before)
	require.ErrorIs(t, before.Unlock(scene.Deadline(t)), locks.ErrLost)
	lease := subject.hold(t)
	require.False(t, time.Now().After(within), "who waited works %v after the return", time.Since(back))
	require.True(t, lease.Valid())
	for leader := range told {
		if leader.Token == lease.Token() {
			break
		}
	}
	require.False(t, time.Now().After(within), "an observer is told %v after the return", time.Since(back))
	require.NoError(t, unlock(scene.Deadline(t), lease))
	for _, p := range []*player{front, idle} {
		ctx, cancel := context.WithDeadline(scene.Deadline(t), within)
		defer cancel()
		again, err := p.locker.Lock(ctx)
		require.NoError(t, err)
		require.True(t, again.Valid())
		require.NoError(t, unlock(scene.Deadline(t), again))
	}
	for _, p := range []*player{front, idle, subject} {
		require.NoError(t, p.client.Ready())
	}
	time.Sleep(timeout + 2*tick) // for the sessions of before
	require.Len(t, server.Sessions(), 3, "sessions are left behind")
	require.Empty(t, scene.QueueOf(t, front.client, lockPath))
}
