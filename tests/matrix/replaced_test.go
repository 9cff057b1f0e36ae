package matrix

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
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
	server := bubble.Server(t)
	estate := bubble.NewEstate(server)
	join := func(lock kind) *player {
		client, err := locks.Open(patient.Deadline(t), bubble.EstateAddress, locks.WithDialer(estate.Dial), locks.WithSessionTimeout(timeout))
		require.NoError(t, err)
		bubble.CloseLater(t, client)
		return newPlayer(t, client, lock)
	}
	front, idle, subject := join(r.ahead), join(r.subject), join(r.subject)
	patient.GiveBack(t, idle.hold(t))
	before := front.hold(t)
	subject.wait(t)
	told, err := idle.client.Election(before.Path()).Observe(patient.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, before.Token(), patient.Receive(t, told).Token)
	synctest.Wait()

	back := time.Now()
	if how == "swapped" {
		estate.Swap()
	} else {
		server = bubble.Server(t)
		line := &bubble.Network{Server: server}
		if how == "restored" { // the lock is held in the backup by somebody who is dead, and whose session lives for its timeout more
			patient.Locked(t, r.ahead(bubble.OpenThrough(t, server, line)).Lock)
		}
		estate.Vacate()
		time.Sleep(timeout * 2 / 5)
		line.Be(bubble.Down)
		back = time.Now()
		estate.Replace(server)
	}
	within := back.Add(timeout + 2*time.Second) // the first tick after the timeout of a session that is left, and to connect
	patient.AwaitLost(t, before)
	require.ErrorIs(t, before.Unlock(patient.Deadline(t)), locks.ErrLost)
	lease := subject.hold(t)
	require.False(t, time.Now().After(within), "who waited works %v after the return", time.Since(back))
	require.True(t, lease.Valid())
	for leader := range told {
		if leader.Token == lease.Token() {
			break
		}
	}
	require.False(t, time.Now().After(within), "an observer is told %v after the return", time.Since(back))
	require.NoError(t, unlock(patient.Deadline(t), lease))
	for _, p := range []*player{front, idle} {
		ctx, cancel := context.WithDeadline(patient.Deadline(t), within)
		defer cancel()
		again, err := p.locker.Lock(ctx)
		require.NoError(t, err)
		require.True(t, again.Valid())
		require.NoError(t, unlock(patient.Deadline(t), again))
	}
	for _, p := range []*player{front, idle, subject} {
		require.NoError(t, p.client.Ready())
	}
	time.Sleep(timeout + 2*tick) // for the sessions of before
	require.Len(t, server.Sessions(), 3, "sessions are left behind")
	require.Empty(t, patient.QueueOf(t, front.client, lockPath))
}
