package gateway

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// family is an actor whose children are all restarted when one of them fails: the child that a test
// is about, and one that fails when it is told to.
type family struct {
	system *actor.ActorSystem
	child  *actor.PID
	clumsy *actor.PID
	told   <-chan heard // *messages.Held, and *actor.Terminated of the child
}

func newFamily(t *testing.T, system *actor.ActorSystem, props *actor.Props) *family {
	t.Helper()
	told, children := make(chan heard, 100), make(chan *actor.PID, 2)
	clumsy := actor.PropsFromFunc(func(ctx actor.Context) {
		if ctx.Message() == "fail" {
			panic("as it was told to")
		}
	})
	parent := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			children <- ctx.Spawn(props)
			children <- ctx.Spawn(clumsy)
		case *messages.Held, *actor.Terminated:
			told <- heard{msg, ctx.Sender()}
		}
	}, actor.WithSupervisor(actor.NewAllForOneStrategy(10, time.Minute, actor.DefaultDecider))))
	t.Cleanup(func() { system.Root.Stop(parent) })
	return &family{system: system, child: await(t, children), clumsy: await(t, children), told: told}
}

func (f *family) fail() { f.system.Root.Send(f.clumsy, "fail") }

// TestRestartEndsLockActor: its owner, which is not restarted, is told of the end, and not of
// another hold.
func TestRestartEndsLockActor(t *testing.T) {
	for name, over := range map[string]bool{"local": false, "over a gateway": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, patient.Session)
			want, at := messages.Acquire{Path: "/restart"}, gateway.At(s.pid)
			system, props := s.inside.system, actors.NewLock(s.session, want)
			if over {
				system, props = s.outside.system, gateway.NewLock(at, want)
			}
			f := newFamily(t, system, props)
			held, _ := notice[*messages.Held](t, f.told)
			other := s.direct(t)
			ctx := patient.Deadline(t)
			next := elsewhere(ctx, other.Mutex("/restart"))
			patient.Eventually(t, func() bool { return contenders(t, other, "/restart") == 2 }, "the other waits")
			f.fail()
			ended, _ := notice[*actor.Terminated](t, f.told)
			require.True(t, ended.Who.Equal(f.child))
			if over {
				require.False(t, at.Clock(held.Epoch).Valid())
			}
			taken := await(t, next)
			require.NoError(t, taken.err)
			require.NoError(t, taken.lease.Unlock(ctx))
			patient.Eventually(t, func() bool { return contenders(t, other, "/restart") == 0 }, "no node is left")
		})
	}
}

// TestRestartOfGateway: what it has promised is kept until it has run out, and then given back. It
// goes on as a gateway that knows nothing of it.
func TestRestartOfGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, short)
	f := newFamily(t, s.inside.system, gateway.New(s.session))
	client, other := s.outside.client(t, actor.NewPID(s.inside.road.address(), f.child.Id)), s.direct(t)
	ctx := patient.Deadline(t)
	lease, err := client.Mutex("/restart").Lock(ctx)
	require.NoError(t, err)
	next := elsewhere(ctx, other.Mutex("/restart"))
	patient.Eventually(t, func() bool { return contenders(t, other, "/restart") == 2 }, "the other waits")
	f.fail()
	taken := await(t, next)
	valid := lease.Valid()
	require.NoError(t, taken.err)
	require.False(t, valid, "two valid leases")
	require.NoError(t, taken.lease.Unlock(ctx))
	again, err := client.Mutex("/restart").Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, again.Unlock(ctx))
	patient.Eventually(t, func() bool { return contenders(t, other, "/restart") == 0 }, "no node is left")
}

// TestRestartAfterStop: a gateway that is stopped while it is to be restarted stays stopped. protoactor makes a new
// incarnation of it, which nobody can reach: it is no gateway, and its session closes.
func TestRestartAfterStop(t *testing.T) {
	inOffice(t, func(o *office) {
		busy := make(chan struct{})
		var started atomic.Int32
		props := gateway.New(o.clients[0].Session()).Configure(actor.WithReceiverMiddleware(
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
			}))
		f := newFamily(o.t, o.system, props)
		o.system.Root.Send(f.child, "be busy")
		synctest.Wait()
		o.system.Root.Stop(f.child)
		f.fail()
		synctest.Wait()
		close(busy)
		await(o.t, f.told)
		synctest.Wait()
		require.Equal(o.t, int32(1), started.Load())
		ctx, stop := context.WithTimeout(o.t.Context(), time.Hour)
		defer stop()
		require.NoError(o.t, o.clients[0].Close(ctx))
	})
}
