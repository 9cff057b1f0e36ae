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
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestOneIsServed: of two activations on two nodes one is served. When it stops the other one is, with
// what was kept, in order, behind Started. Senders are answered as if they had asked later.
func TestOneIsServed(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		a, b, j := newNode(t, server, "a"), newNode(t, server, "b"), &journal{}
		first := a.spawn(j)
		a.send(first, work{n: 1})
		synctest.Wait()
		require.Equal(t, []string{"Started", "1"}, j.served("a"))
		second := b.spawn(j)
		for n := range 2 {
			b.send(second, work{n: n})
		}
		asked := b.system.Root.RequestFuture(second, work{n: 2}, 2*time.Hour)
		time.Sleep(time.Hour)
		require.Empty(t, j.served("b"))
		a.send(first, work{n: 2})
		a.system.Root.Poison(first)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"Started", "1", "2", "Stopping", "Stopped"}, j.served("a"))
		require.Equal(t, []string{"Started", "0", "1", "2"}, j.served("b"))
		require.Greater(t, j.last(t, "b").token, j.last(t, "a").token)
		answer, err := asked.Result()
		require.NoError(t, err)
		require.Equal(t, 2, answer)
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

// TestRefused: what was kept for an actor that is stopped, or whose lock cannot be acquired, is a dead letter, which ends a
// future, and so is what comes beyond the bound. The actor is not even started.
func TestRefused(t *testing.T) {
	one := messages.Acquire{Path: path}
	for name, c := range map[string]struct {
		want messages.Acquire
		end  func(*node, *actor.PID)
	}{
		"stopped":   {one, func(n *node, pid *actor.PID) { n.system.Root.Stop(pid) }},
		"poisoned":  {one, func(n *node, pid *actor.PID) { n.system.Root.Poison(pid) }},
		"bad input": {messages.Acquire{Path: "bad"}, nil},
		"try":       {messages.Acquire{Path: path, Try: true}, nil},
		"timeout":   {messages.Acquire{Path: path, Timeout: time.Minute}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) {
				n, j := newNode(t, server, "n"), &journal{}
				holder := scene.Locked(t, scene.Client(t, server).Mutex(path).Lock)
				waits := n.system.Root.Spawn(n.props(j, c.want, activation.WithKept(2)))
				synctest.Wait() // protoactor drops what comes just when an actor stops without a word
				var asked []*actor.Future
				for i := range 3 {
					asked = append(asked, n.system.Root.RequestFuture(waits, work{n: i}, time.Hour))
				}
				_, err := asked[2].Result()
				require.ErrorIs(t, err, actor.ErrDeadLetter)
				if c.end != nil {
					require.True(t, n.alive(waits))
					c.end(n, waits)
				}
				for _, kept := range asked[:2] {
					_, err = kept.Result()
					require.ErrorIs(t, err, actor.ErrDeadLetter)
				}
				synctest.Wait()
				require.False(t, n.alive(waits))
				require.Empty(t, j.served("n"))
				scene.GiveBack(t, holder)
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
