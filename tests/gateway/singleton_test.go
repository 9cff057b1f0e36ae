package gateway

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// single is the request of these tests.
var single = messages.Acquire{Path: "/singleton"}

// registrar looks at the children of all singletons.
type registrar struct {
	mu    sync.Mutex
	runs  map[string]*actors.Activation // by node, until the child has ended
	wrong []string
}

// child gives the props of a node's child.
func (r *registrar) child(node string) *actor.Props {
	return actor.PropsFromFunc(func(ctx actor.Context) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch msg := ctx.Message().(type) {
		case *actors.Activation:
			for other, by := range r.runs {
				if msg.Valid() && by.Valid() {
					r.wrong = append(r.wrong, fmt.Sprintf("%s and %s are valid", node, other))
				}
				if msg.Token <= by.Token {
					r.wrong = append(r.wrong, fmt.Sprintf("token %d after %d", msg.Token, by.Token))
				}
			}
			if r.runs == nil {
				r.runs = map[string]*actors.Activation{}
			}
			r.runs[node] = msg
		case *actor.Stopped:
			delete(r.runs, node)
		case string:
			ctx.Respond(node + " has " + msg)
		}
	})
}

// runsOn reports whether a node's child runs, and no other.
func (r *registrar) runsOn(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.runs) == 1 && r.runs[node] != nil
}

// activation is a node's.
func (r *registrar) activation(node string) *actors.Activation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[node]
}

func (r *registrar) require(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.wrong)
}

// TestSingletonOverGateways: a singleton without a session competes with one that has a session. Its gateway is
// stopped: it loses the lock in time, and campaigns at the other gateway.
func TestSingletonOverGateways(t *testing.T) {
	inOffice(t, func(o *office) {
		var r registrar
		await := func(what string, is func() bool) {
			o.t.Helper()
			for range 60_000 {
				if is() {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			o.t.Fatal("it does not come: " + what)
		}
		contenders := func(n int) func() bool {
			return func() bool {
				queue, err := o.clients[1].Queue(o.t.Context(), single.Path)
				require.NoError(o.t, err)
				return len(queue) == n
			}
		}
		over := o.system.Root.Spawn(gateway.NewSingleton(o.at, single, r.child("over a gateway")))
		await("it is active", func() bool { return r.runsOn("over a gateway") })
		direct := o.system.Root.Spawn(actors.NewSingleton(o.clients[1].Session(), single, r.child("direct")))
		await("the other waits", contenders(2))
		answer, err := o.system.Root.RequestFuture(over, "heard", time.Minute).Result()
		require.NoError(o.t, err)
		require.Equal(o.t, "over a gateway has heard", answer)

		by := r.activation("over a gateway")
		time.Sleep(5 * time.Minute)
		require.True(o.t, by.Valid())
		require.NoError(o.t, by.Context.Err())
		o.stop(0)
		await("the other is active", func() bool { return r.runsOn("direct") })
		require.ErrorIs(o.t, context.Cause(by.Context), actors.ErrSingletonLost)
		require.False(o.t, by.Valid())
		await("it waits at the other gateway", contenders(2))

		o.system.Root.Stop(direct)
		await("it is active again", func() bool { return r.runsOn("over a gateway") })
		o.system.Root.Stop(over)
		await("no node is left", contenders(0))
		r.require(o.t)
	})
}

// TestSingletonOfKilledGateway: the process of the gateway is killed, over real connections.
func TestSingletonOfKilledGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, patient.Session)
	gate := start(t, order{Servers: s.server.Connect(), Timeout: short})
	require.Equal(t, "ready", await(t, gate.Says))
	var r registrar
	at := gateway.At(actor.NewPID(gate.road.address(), "locks"), s.pid)
	over := s.outside.system.Root.Spawn(gateway.NewSingleton(at, single, r.child("over a gateway")))
	var by *actors.Activation
	patient.Eventually(t, func() bool {
		by = r.activation("over a gateway")
		return by != nil
	}, "it is active")
	direct := s.inside.system.Root.Spawn(actors.NewSingleton(s.session, single, r.child("direct")))
	other := s.direct(t)
	patient.Eventually(t, func() bool {
		// On a machine that stood still, the short lease may be over by now.
		return contenders(t, other, single.Path) == 2 || !by.Valid()
	}, "the other waits")
	require.NoError(t, gate.Kill())
	patient.Eventually(t, func() bool { return r.runsOn("direct") }, "the other is active")
	require.False(t, by.Valid())
	require.ErrorIs(t, context.Cause(by.Context), actors.ErrSingletonLost)
	patient.Eventually(t, func() bool { return contenders(t, other, single.Path) == 2 }, "it waits at the next gateway")
	s.inside.system.Root.Stop(direct)
	patient.Eventually(t, func() bool { return r.runsOn("over a gateway") }, "it is active again")
	s.outside.system.Root.Stop(over)
	patient.Eventually(t, func() bool { return contenders(t, other, single.Path) == 0 }, "no node is left")
	r.require(t)
}
