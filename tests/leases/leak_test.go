package leases

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// counts has the numbers of sessions, watches and ephemeral nodes that a server keeps.
type counts struct{ sessions, watches, ephemerals int }

func count(t *testing.T, members []rig.Address) (all counts) {
	t.Helper()
	for _, m := range members {
		watches, err := m.Watches(patient.Deadline(t))
		require.NoError(t, err)
		all.watches += watches
	}
	var err error
	all.sessions, err = members[0].Sessions(patient.Deadline(t))
	require.NoError(t, err)
	all.ephemerals, err = members[0].Ephemerals(patient.Deadline(t))
	require.NoError(t, err)
	return all
}

// Clients come, lock, wait, are cut and go: after Close nothing of them is left, neither here nor at
// the servers.
func TestNothingIsLeft(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		var before counts
		patient.Eventually(t, func() bool { // sessions that other tests cut off have to expire first
			before = count(t, zk.Members)
			return before == counts{sessions: 1} // the test's own look from outside
		}, "the servers never came to rest")
		already := goleak.IgnoreCurrent()
		for range 3 {
			comeAndGo(t, zk)
		}
		require.NoError(t, stories.Leaked(already))
		var after counts
		patient.Eventually(t, func() bool {
			after = count(t, zk.Members)
			return after == before
		}, "before %+v", before)
	})
}

func comeAndGo(t *testing.T, zk *stories.Servers) {
	t.Helper()
	proxy := rig.NewProxy(t, zk.Members[0].Addr())
	defer proxy.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patient.Bound)
	defer cancel()
	client, err := locks.Open(ctx, proxy.Addr()+zk.Root(), locks.WithSessionTimeout(30*time.Second))
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			lease, err := client.Mutex("/leak").Lock(ctx)
			if err == nil {
				err = lease.Unlock(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	held := patient.Locked(t, client.Mutex("/leak").Lock)
	short, stop := context.WithCancel(ctx)
	waiting := patient.Elsewhere(ctx, client.Mutex("/leak").Lock)
	leaving := patient.Elsewhere(short, client.Mutex("/leak").Lock)
	proxy.Cut()
	stop()
	require.ErrorIs(t, patient.Receive(t, leaving).Err, context.Canceled)
	_, err = client.Mutex("/back").Lock(ctx) // the connection is back, so that Close can end the session
	require.NoError(t, err)
	require.NoError(t, client.Close(ctx))
	require.ErrorIs(t, patient.Receive(t, waiting).Err, locks.ErrClosed)
	<-held.Context().Done()
	require.ErrorIs(t, context.Cause(held.Context()), locks.ErrLost)
	require.ErrorIs(t, context.Cause(held.Context()), locks.ErrClosed)
	require.NoError(t, client.Close(ctx))
}

// A client in an actor system of the caller's stops what it started there, and nothing else.
func TestCallersActorSystem(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(silence))
		defer system.Shutdown()
		mine := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		before := running(system)
		client, err := locks.Open(patient.Deadline(t), zk.Connect(), locks.WithActorSystem(system))
		require.NoError(t, err)
		lease := patient.Locked(t, client.Mutex("/system").Lock)
		patient.GiveBack(t, lease)
		require.NoError(t, client.Close(patient.Deadline(t)))
		patient.Eventually(t, func() bool { return running(system) == before }, "actors are left")
		require.NoError(t, system.Root.StopFuture(mine).Wait())
	})
}

func silence(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }

// running counts the actors of a system.
func running(system *actor.ActorSystem) (n int) {
	for _, part := range system.ProcessRegistry.LocalPIDs.LocalPIDs {
		n += part.Count()
	}
	return n
}
