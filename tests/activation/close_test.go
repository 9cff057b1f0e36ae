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

// serving is an actor at a message that lasts, and what is true when it has been at it for so long.
type serving struct {
	lease *activation.Lease
	valid bool
	cause error
	begun chan struct{}
}

func (s *serving) props(n *node, lasts time.Duration) *actor.Props {
	s.begun = make(chan struct{})
	return actor.PropsFromFunc(func(ctx actor.Context) {
		if _, starts := ctx.Message().(*actor.Started); starts {
			s.lease = activation.LeaseOf(ctx)
			close(s.begun)
			time.Sleep(lasts)
			s.valid, s.cause = s.lease.Valid(), context.Cause(s.lease.Context())
		}
	}, activation.Single(n.session, activation.At(messages.Acquire{Path: path})))
}

// TestSessionCloseWaitsForTheMessage: the lock is given back when the message that is being served has been
// served, and with a session timeout for that at most.
func TestSessionCloseWaitsForTheMessage(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"served in time": timeout / 2, "served for too long": time.Hour} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) {
				a, j, s := newNode(t, server, "a"), &journal{}, &serving{}
				pid := a.system.Root.Spawn(s.props(a, lasts))
				<-s.begun
				b := newNode(t, server, "b")
				b.send(b.spawn(j), work{n: 1})
				begun := time.Now()
				require.NoError(t, a.session.Close(t.Context()))
				waited := time.Since(begun)
				time.Sleep(time.Second)
				require.Equal(t, []string{"Started", "1"}, j.served("b"))
				if lasts < timeout {
					require.True(t, s.valid, "the message keeps its lease to its end")
					require.NoError(t, s.cause)
					require.False(t, a.alive(pid))
					require.InDelta(t, lasts, waited, float64(time.Second))
					return
				}
				require.InDelta(t, timeout, waited, float64(time.Second))
				require.False(t, s.lease.Valid())
				require.ErrorIs(t, context.Cause(s.lease.Context()), activation.ErrOver)
				time.Sleep(lasts)
				require.False(t, a.alive(pid))
			})
		})
	}
}

// TestSessionCloseServesNothingMore: what is behind the message that is being served is not served, and an actor
// that is idle keeps nobody waiting.
func TestSessionCloseServesNothingMore(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		p := newPair(t, server, messages.Acquire{Path: path})
		idle := p.a.system.Root.Spawn(p.a.props(p.journal, messages.Acquire{Path: "/accounts/idle"}))
		time.Sleep(time.Second)
		p.a.send(p.first, work{n: 2, lasts: 2 * time.Second})
		for n := range 100 {
			p.a.send(p.first, work{n: 3 + n})
		}
		synctest.Wait() // the first of them is being served
		begun := time.Now()
		require.NoError(t, p.a.session.Close(t.Context()))
		require.InDelta(t, 2*time.Second, time.Since(begun), float64(time.Second))
		time.Sleep(time.Second)
		require.False(t, p.a.alive(p.first))
		require.False(t, p.a.alive(idle))
		require.ElementsMatch(t, []string{"Started", "0", "Started", "2", "Stopping", "Stopped", "Stopping", "Stopped"},
			p.served("a"))
		require.Equal(t, []string{"Started", "1"}, p.served("b"))
		require.Empty(t, p.wrong)
	})
}
