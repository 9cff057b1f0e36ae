package activation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestOneIsServed: of two activations on two nodes one is served. When it stops the other one is, with
// what was kept, in order, behind Started.
func TestOneIsServed(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		a, b, j := newNode(t, server, "a"), newNode(t, server, "b"), &journal{}
		first := a.spawn(j)
		a.send(first, work{n: 1})
		synctest.Wait()
		require.Equal(t, []string{"Started", "1"}, j.served("a"))
		second := b.spawn(j)
		for n := range 3 {
			b.send(second, work{n: n})
		}
		time.Sleep(time.Hour)
		require.Empty(t, j.served("b"))
		a.send(first, work{n: 2})
		a.system.Root.Poison(first)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"Started", "1", "2", "Stopping", "Stopped"}, j.served("a"))
		require.Equal(t, []string{"Started", "0", "1", "2"}, j.served("b"))
		require.Greater(t, j.last(t, "b").token, j.last(t, "a").token)
		require.Empty(t, j.wrong)
	})
}

// TestGivenBackBehindChildren: the lock is given back when the children have stopped, too.
func TestGivenBackBehindChildren(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		a, b, j := newNode(t, server, "a"), newNode(t, server, "b"), &journal{}
		slow := actor.PropsFromFunc(func(ctx actor.Context) {
			if _, stops := ctx.Message().(*actor.Stopping); stops {
				time.Sleep(time.Hour)
			}
		})
		leases := make(chan *activation.Lease, 1)
		first := a.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, starts := ctx.Message().(*actor.Started); starts {
				ctx.Spawn(slow)
				leases <- activation.LeaseOf(ctx)
			}
		}, activation.Single(a.session, activation.At(messages.Acquire{Path: path}))))
		lease := <-leases
		b.send(b.spawn(j), work{n: 1})
		a.system.Root.Stop(first)
		time.Sleep(time.Hour - time.Second)
		require.True(t, lease.Valid())
		require.Empty(t, j.served("b"))
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"Started", "1"}, j.served("b"))
		require.False(t, lease.Valid())
		require.ErrorIs(t, context.Cause(lease.Context()), activation.ErrOver)
	})
}

// TestRefused: what comes beyond the bound, and what was kept for an actor that is stopped, is a dead
// letter, which ends a future.
func TestRefused(t *testing.T) {
	for name, end := range map[string]func(*node, *actor.PID){
		"stopped":  func(n *node, pid *actor.PID) { n.system.Root.Stop(pid) },
		"poisoned": func(n *node, pid *actor.PID) { n.system.Root.Poison(pid) },
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) {
				n, j := newNode(t, server, "n"), &journal{}
				holder, err := other(t, server).Mutex(path).Lock(t.Context())
				require.NoError(t, err)
				waits := n.spawn(j, activation.WithKept(2))
				synctest.Wait()
				var asked []*actor.Future
				for i := range 3 {
					asked = append(asked, n.system.Root.RequestFuture(waits, work{n: i}, time.Hour))
				}
				_, err = asked[2].Result()
				require.ErrorIs(t, err, actor.ErrDeadLetter)
				end(n, waits)
				for _, kept := range asked[:2] {
					_, err = kept.Result()
					require.ErrorIs(t, err, actor.ErrDeadLetter)
				}
				synctest.Wait()
				require.False(t, n.alive(waits))
				require.Empty(t, j.served("n"), "not even Started")
				require.NoError(t, holder.Unlock(t.Context()))
			})
		})
	}
}

// TestKeptAreAnswered: senders of kept messages are answered as if they had asked later.
func TestKeptAreAnswered(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		n, j := newNode(t, server, "n"), &journal{}
		holder, err := other(t, server).Mutex(path).Lock(t.Context())
		require.NoError(t, err)
		waits := n.spawn(j)
		asked := n.system.Root.RequestFuture(waits, work{n: 7}, time.Hour)
		time.Sleep(time.Minute)
		require.NoError(t, holder.Unlock(t.Context()))
		answer, err := asked.Result()
		require.NoError(t, err)
		require.Equal(t, 7, answer)
	})
}

// TestCannotBeAcquired: an actor whose lock cannot be acquired stops without having been started.
func TestCannotBeAcquired(t *testing.T) {
	for name, want := range map[string]messages.Acquire{
		"bad input": {Path: "bad"},
		"try":       {Path: path, Try: true},
		"timeout":   {Path: path, Timeout: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) {
				n, j := newNode(t, server, "n"), &journal{}
				holder, err := other(t, server).Mutex(path).Lock(t.Context())
				require.NoError(t, err)
				waits := n.system.Root.Spawn(n.props(j, want))
				if name == "bad input" { // it stops at once, and protoactor drops what comes in that moment without a word
					synctest.Wait()
				}
				asked := n.system.Root.RequestFuture(waits, work{n: 1}, time.Hour)
				_, err = asked.Result()
				require.ErrorIs(t, err, actor.ErrDeadLetter)
				synctest.Wait()
				require.False(t, n.alive(waits))
				require.Empty(t, j.served("n"))
				require.NoError(t, holder.Unlock(t.Context()))
			})
		})
	}
}

// TestOwnerIsItsOwn: two activations on one node are two owners, for any Owner in the request.
func TestOwnerIsItsOwn(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		n, j := newNode(t, server, "n"), &journal{}
		want := messages.Acquire{Path: path, Owner: "the same"}
		first, second := n.system.Root.Spawn(n.props(j, want)), n.system.Root.Spawn(n.props(j, want))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"Started"}, j.served("n"))
		n.system.Root.Stop(first)
		n.system.Root.Stop(second)
	})
}
