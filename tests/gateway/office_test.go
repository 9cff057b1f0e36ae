package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// office is two gateways in virtual time, each with a session of its own, and a client of both.
type office struct {
	t       *testing.T
	server  *embedded.Server
	system  *actor.ActorSystem
	clients [2]*locks.Client // with the sessions
	lines   [2]scene.Network // of the sessions
	silent  [2]atomic.Bool   // no request comes to the gateway, and no reply from it
	pids    []*actor.PID
	at      *gateway.Gateways
	client  *locks.Client
}

// inOffice plays a story. opts are the options of the gateways.
func inOffice(t *testing.T, story func(t *testing.T, o *office), opts ...gateway.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &office{t: t, server: scene.Virtual(t), system: scene.System(t)}
		for i := range o.clients {
			o.lines[i].Server = o.server
			client, err := locks.Open(t.Context(), o.server.Connect(), locks.WithDialer(o.lines[i].Dial),
				locks.WithActorSystem(o.system), locks.WithSessionTimeout(scene.Session))
			require.NoError(t, err)
			scene.CountRelists(t, client.Session())
			t.Cleanup(func() { scene.Closed(t, client.Close(context.WithoutCancel(t.Context()))) })
			o.clients[i] = client
			o.pids = append(o.pids, o.gateway(i, opts...))
		}
		o.at = gateway.At(o.pids...)
		o.client = o.over(o.at)
		story(t, o)
	})
}

// gateway spawns one of the gateways.
func (o *office) gateway(i int, opts ...gateway.Option) *actor.PID {
	o.t.Helper()
	props := gateway.New(o.clients[i].Session(), opts...).Configure(
		actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
			return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
				if _, request := env.Message.(*wire.Request); !request || !o.silent[i].Load() {
					next(c, env)
				}
			}
		}),
		actor.WithSenderMiddleware(func(next actor.SenderFunc) actor.SenderFunc {
			return func(c actor.SenderContext, to *actor.PID, env *actor.MessageEnvelope) {
				if _, reply := env.Message.(*wire.Reply); !reply || !o.silent[i].Load() {
					next(c, to, env)
				}
			}
		}))
	pid, err := o.system.Root.SpawnNamed(props, fmt.Sprint("gateway-", i))
	require.NoError(o.t, err)
	return pid
}

// over opens a client over gateways.
func (o *office) over(at *gateway.Gateways) *locks.Client {
	o.t.Helper()
	client, err := gateway.Open(o.t.Context(), o.system, at)
	require.NoError(o.t, err)
	o.t.Cleanup(func() { scene.Closed(o.t, client.Close(context.WithoutCancel(o.t.Context()))) })
	return client
}

// session gives the session of a gateway.
func (o *office) session(i int) int64 { return o.clients[i].Session().ID() }

// settle is long enough for everything that happens at once, and short beside the time of a cohort.
const settle = 10 * time.Millisecond

// asks is a lock actor over gateways, with a recorder.
type asks struct {
	*office
	pid   *actor.PID
	rec   *actorstest.Recorder
	heard int // so many notices
}

func (o *office) asks(want messages.Acquire) *asks { return o.asksAt(o.at, want) }

func (o *office) asksAt(at *gateway.Gateways, want messages.Acquire, opts ...actors.LockOption) *asks {
	rec := actorstest.NewRecorder(o.system)
	o.t.Cleanup(rec.Close)
	return &asks{office: o, rec: rec, pid: o.system.Root.Spawn(gateway.NewLock(at, want, append(opts, actors.WithObserver(rec.PID()))...))}
}

func (a *asks) send(command any) { a.system.Root.Send(a.pid, command) }

func (a *asks) reach(state messages.State) messages.Transition {
	a.t.Helper()
	return scene.Await(a.t, a.rec, state)
}

func (a *asks) held() messages.Grant {
	a.t.Helper()
	return a.reach(messages.StateHeld).Grant
}

func (a *asks) release() {
	a.t.Helper()
	a.send(&messages.Release{})
	a.reach(messages.StateReleased)
}

// waits checks that it does not hold by now.
func (a *asks) waits() {
	a.t.Helper()
	time.Sleep(settle)
	require.NotContains(a.t, a.rec.States(), messages.StateHeld)
}

// hears waits for the next notice that is no messages.Behind.
func (a *asks) hears() any {
	a.t.Helper()
	scene.Eventually(a.t, func() bool { return len(scene.Notices(a.rec)) > a.heard }, "nothing is told")
	a.heard++
	return scene.Notices(a.rec)[a.heard-1]
}

// quiet checks that nothing is told for a while.
func (a *asks) quiet(d time.Duration) {
	a.t.Helper()
	time.Sleep(d)
	require.Len(a.t, scene.Notices(a.rec), a.heard)
}
