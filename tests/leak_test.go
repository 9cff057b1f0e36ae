package tests

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// counts has the numbers of sessions, watches and ephemeral nodes that a server keeps.
type counts struct{ sessions, watches, ephemerals int }

func count(t *testing.T, members []rig.Address) (all counts) {
	t.Helper()
	for _, m := range members {
		watches, err := m.Watches(deadline(t))
		require.NoError(t, err)
		all.watches += watches
	}
	var err error
	all.sessions, err = members[0].Sessions(deadline(t))
	require.NoError(t, err)
	all.ephemerals, err = members[0].Ephemerals(deadline(t))
	require.NoError(t, err)
	return all
}

// Clients come, lock, wait, are cut and go: after Close nothing of them is left, neither here nor at
// the servers.
func TestNothingIsLeft(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, zk *servers) {
		var before counts
		eventually(t, func() bool { // sessions that other tests cut off have to expire first
			before = count(t, zk.members)
			return before == counts{sessions: 1} // the test's own look from outside
		}, "the servers never came to rest")
		already := goleak.IgnoreCurrent()
		for range 3 {
			comeAndGo(t, zk)
		}
		require.NoError(t, leaked(already))
		var after counts
		eventually(t, func() bool {
			after = count(t, zk.members)
			return after == before
		}, "before %+v", before)
	})
}

func comeAndGo(t *testing.T, zk *servers) {
	t.Helper()
	proxy := rig.NewProxy(t, zk.members[0].Addr())
	defer proxy.Close()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
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
	held, err := client.Mutex("/leak").Lock(ctx)
	require.NoError(t, err)
	short, stop := context.WithCancel(ctx)
	waiting := elsewhere(ctx, client.Mutex("/leak").Lock)
	leaving := elsewhere(short, client.Mutex("/leak").Lock)
	proxy.Cut()
	stop()
	require.ErrorIs(t, receive(t, leaving).err, context.Canceled)
	_, err = client.Mutex("/back").Lock(ctx) // the connection is back, so that Close can end the session
	require.NoError(t, err)
	require.NoError(t, client.Close(ctx))
	require.ErrorIs(t, receive(t, waiting).err, locks.ErrClosed)
	<-held.Context().Done()
	require.ErrorIs(t, context.Cause(held.Context()), locks.ErrLost)
	require.ErrorIs(t, context.Cause(held.Context()), locks.ErrClosed)
	require.NoError(t, client.Close(ctx))
}

// A client in an actor system of the caller's stops what it started there, and nothing else.
func TestCallersActorSystem(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(silence))
		defer system.Shutdown()
		mine := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		before := running(system)
		client, err := locks.Open(deadline(t), zk.Connect(), locks.WithActorSystem(system))
		require.NoError(t, err)
		lease, err := client.Mutex("/system").Lock(deadline(t))
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(deadline(t)))
		require.NoError(t, client.Close(deadline(t)))
		eventually(t, func() bool { return running(system) == before }, "actors are left")
		require.NoError(t, system.Root.StopFuture(mine).Wait())
	})
}

// running counts the actors of a system.
func running(system *actor.ActorSystem) (n int) {
	for _, part := range system.ProcessRegistry.LocalPIDs.LocalPIDs {
		n += part.Count()
	}
	return n
}
