package gateway

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// family spawns an actor whose children are all restarted when one of them fails: the child that a
// test is about, and one that fails when fail is called. told has *messages.Held, and
// *actor.Terminated of the child.
func (o *office) family(props *actor.Props) (child *actor.PID, fail func(), told <-chan heard) {
	o.t.Helper()
	tells, children := make(chan heard, 100), make(chan *actor.PID, 2)
	clumsy := actor.PropsFromFunc(func(ctx actor.Context) {
		if ctx.Message() == "fail" {
			panic("as it was told to")
		}
	})
	parent := o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			children <- ctx.Spawn(props)
			children <- ctx.Spawn(clumsy)
		case *messages.Held, *actor.Terminated:
			tells <- heard{msg, ctx.Sender()}
		}
	}, actor.WithSupervisor(actor.NewAllForOneStrategy(10, time.Minute, actor.DefaultDecider))))
	o.t.Cleanup(func() { o.system.Root.Stop(parent) })
	child = <-children
	sibling := <-children
	return child, func() { o.system.Root.Send(sibling, "fail") }, tells
}

// TestRestartEndsLockActor: its owner, which is not restarted, is told of the end, and not of
// another hold.
func TestRestartEndsLockActor(t *testing.T) {
	want := messages.Acquire{Path: "/restart"}
	for name, props := range map[string]func(o *office) *actor.Props{
		"local":          func(o *office) *actor.Props { return actors.NewLock(o.clients[0].Session(), want) },
		"over a gateway": func(o *office) *actor.Props { return gateway.NewLock(o.at, want) },
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(t *testing.T, o *office) {
				child, fail, told := o.family(props(o))
				held, _ := notice[*messages.Held](t, told)
				clock := o.at.Clock(held.Epoch) // now: the gateways forget it with the lock actor
				require.Equal(t, name == "over a gateway", clock.Valid())
				next := scene.Elsewhere(t.Context(), o.clients[1].Mutex("/restart").Lock)
				queued(t, o.clients[1], "/restart", 2)
				fail()
				ended, _ := notice[*actor.Terminated](t, told)
				require.True(t, ended.Who.Equal(child))
				require.False(t, clock.Valid())
				scene.GiveBack(t, scene.Receive(t, next).Lease)
				queued(t, o.clients[1], "/restart", 0)
				require.Empty(t, told)
			})
		})
	}
}

// TestRestartOfGateway: what it has promised is kept until it has run out, and then given back. It
// goes on as a gateway that knows nothing of it.
func TestRestartOfGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		child, fail, _ := o.family(gateway.New(o.clients[0].Session()))
		taken(t, o.over(gateway.At(child)), o.clients[1], func(*locks.Lease) func() { fail(); return func() {} })
	})
}

// TestRestartAfterStop: a gateway that is stopped while it is to be restarted stays stopped. protoactor makes a new
// incarnation of it, which nobody can reach: it is no gateway, and its session closes.
func TestRestartAfterStop(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		busy := make(chan struct{})
		var started atomic.Int32
		child, fail, told := o.family(gateway.New(o.clients[0].Session()).Configure(actor.WithReceiverMiddleware(
			func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					switch env.Message.(type) {
					case string:
						<-busy
						return
					case *actor.Started:
						started.Add(1)
					}
					next(c, env)
				}
			})))
		o.system.Root.Send(child, "be busy")
		synctest.Wait()
		o.system.Root.Stop(child)
		fail()
		synctest.Wait()
		close(busy)
		scene.Receive(t, told)
		synctest.Wait()
		require.Equal(t, int32(1), started.Load())
		require.NoError(t, o.clients[0].Close(scene.Deadline(t)))
	})
}
