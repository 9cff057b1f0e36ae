package access

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// saslClient opens a client of alice's, whose nodes are hers alone.
func saslClient(t *testing.T, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	return (&place{sasl: true}).mine(t, connect, opts...)
}

// The second request of an exchange, which carries the proof, is lost, or its answer.
func TestSecondTokenIsLost(t *testing.T) {
	for name, action := range map[string]embedded.Action{
		"before": embedded.CutBefore, "after": embedded.CutAfter, "reply": embedded.DropReply,
	} {
		t.Run(name, func(t *testing.T) {
			for attempt := 0; !keptThrough(t, action); attempt++ {
				require.Less(t, attempt, 5, "the lease does not outlive it")
			}
		})
	}
}

// keptThrough is false where the lease ended meanwhile: on a machine that stood still for too long.
func keptThrough(t *testing.T, action embedded.Action) bool {
	t.Helper()
	s := embedded.Run(t, embedded.WithSASL(passwords), embedded.WithSASLRequired())
	client := saslClient(t, s.Addr(), locks.WithSessionTimeout(6*time.Second)) // a third of it for an answer that never comes
	holder := scene.LockAt(t, client, "/mine")
	id := client.Session().ID()
	fault, err := s.Inject(embedded.Fault{Op: embedded.OpSASL, Skip: 1, Count: 1, Action: action})
	require.NoError(t, err)
	_, err = s.Inject(embedded.Fault{Op: embedded.OpPing, Count: 1, Action: embedded.CutBefore})
	require.NoError(t, err)
	require.NoError(t, fault.Wait(scene.Deadline(t)))
	if err := scene.LockAt(t, client, "/other").Unlock(scene.Deadline(t)); !errors.Is(err, locks.ErrLost) {
		require.NoError(t, err)
	}
	err = holder.Unlock(scene.Deadline(t))
	if errors.Is(err, locks.ErrLost) {
		return false
	}
	require.NoError(t, err)
	require.Equal(t, id, client.Session().ID())
	return true
}

// Each member of an ensemble is authenticated with, by the same session, as members die and come back.
func TestRealMembersDie(t *testing.T) {
	e := rig.StartEnsemble(t, 3, jaas,
		rig.WithConfig("sessionRequireClientSASLAuth", "true"))
	client := saslClient(t, e.Addrs(), locks.WithSessionTimeout(time.Minute)) // longer than elections take
	rec := scene.Recorder(t, client)
	holder := scene.Locked(t, client.Mutex("/mine", locks.WithObserver(rec.PID())).Lock)
	second := scene.Queue(t, saslClient(t, e.Addrs()), "/mine")
	for _, member := range e.Members() {
		require.NoError(t, member.Kill())
		require.NoError(t, member.Restart(scene.Deadline(t)))
		_, err := e.Leader(scene.Deadline(t))
		require.NoError(t, err)
	}
	scene.Eventually(t, holder.Valid, "the lease never runs again")
	require.NoError(t, context.Cause(holder.Context()), "and has never been lost")
	scene.GiveBack(t, holder)
	scene.GiveBack(t, second.Granted(t))
}

// Hours of holding a lock on connections that are lost each minute, with exchanges that take a second: the lease
// never ends, and the session stays the same.
func TestHoursOfReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t, embedded.WithReplicas(3),
			embedded.WithSASL(passwords), embedded.WithSASLRequired())
		client := scene.ClientAt(t, server, server.Connect(), sasl(t, bob))
		lease := scene.Locked(t, client.Mutex("/hours").Lock)
		id := client.Session().ID()
		slow, err := server.Inject(embedded.Fault{
			Op: embedded.OpSASL, Count: 1 << 20, Action: embedded.HoldReplies, Delay: 500 * time.Millisecond,
		})
		require.NoError(t, err)
		for range 120 {
			time.Sleep(time.Minute)
			require.True(t, lease.Valid())
			for _, r := range server.Replicas() {
				r.DropClients()
			}
		}
		time.Sleep(time.Minute)
		require.NoError(t, lease.Context().Err())
		require.Equal(t, id, client.Session().ID())
		require.GreaterOrEqual(t, slow.Hits(), 240)
		scene.GiveBack(t, lease)
	})
}

// Servers that take connections and fall silent in the exchange: the holder gives the lock up by its own clock,
// before the servers give it to somebody else. That they do: its client stops asking to be let in, and does not
// keep the session alive by it. It goes on when they answer again.
func TestSilenceInTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t, embedded.WithReplicas(3),
			embedded.WithSASL(passwords))
		client := scene.ClientAt(t, server, server.Connect(), sasl(t, bob))
		lease := scene.Locked(t, client.Mutex("/lease").Lock)
		next := scene.Elsewhere(t.Context(), scene.Client(t, server).Mutex("/lease").Lock) // without SASL
		id := client.Session().ID()
		time.Sleep(20 * time.Second)
		silent, err := server.Inject(embedded.Fault{Op: embedded.OpSASL, Count: 1 << 20, Action: embedded.HoldReplies})
		require.NoError(t, err)
		for _, r := range server.Replicas() {
			r.DropClients()
		}
		cut := time.Now()
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.LessOrEqual(t, time.Since(cut), 5*time.Second, "half of the session timeout")
		due, known := server.SessionDue(id)
		require.True(t, !known || due.After(time.Now()), "the session lives for longer than the lease")
		// A session timeout of attempts, one and a half of waiting, and what is under way, or else the session of a client that
		// is not let in lives on.
		got := scene.Receive(t, next)
		require.NoError(t, got.Err)
		require.Less(t, time.Since(cut), time.Minute)
		other := got.Lease
		require.Greater(t, other.Token(), lease.Token())
		scene.GiveBack(t, other)
		silent.Release()
		silent.Remove()
		again := scene.Locked(t, client.Mutex("/lease").Lock)
		require.Greater(t, again.Token(), lease.Token())
		scene.GiveBack(t, again)
	})
}
