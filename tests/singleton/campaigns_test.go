package singleton

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestCampaignsThatFail: after an end that may pass the singleton campaigns again, with pauses that grow to some ten
// seconds; any other ends it, and its parent is told why.
func TestCampaignsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		notice any
		passes bool
	}{
		"stopped from outside":  {nil, true},
		"gateway full":          {&messages.Failed{Reason: messages.ReasonGatewayFull}, true},
		"no gateway answers":    {&messages.Failed{Reason: messages.ReasonUnreachable}, true},
		"stopped at a gateway":  {&messages.Failed{Reason: messages.ReasonStopped}, true},
		"deadlock":              {&messages.Cancelled{Reason: messages.ReasonDeadlock}, true},
		"lost at once":          {&messages.Lost{Reason: messages.ReasonLeaseOver}, true},
		"ACL":                   {&messages.Failed{Reason: messages.ReasonNoAuth, Detail: "as ordered"}, false},
		"sequence exhausted":    {&messages.Failed{Reason: messages.ReasonSequenceExhausted}, false},
		"refused":               {&messages.Failed{Reason: messages.ReasonRefused}, false},
		"session closed":        {&messages.Failed{Reason: messages.ReasonSessionClosed}, false},
		"lost with the session": {&messages.Lost{Reason: messages.ReasonSessionClosed}, false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 1, func(w *world) {
				a := w.nodes[0]
				var campaigns atomic.Int64
				from := &actorstest.Fake{Begin: func(lock *actorstest.FakeLock) {
					campaigns.Add(1)
					if c.notice == nil {
						w.system.Root.Stop(lock.PID())
					} else {
						lock.Tell(c.notice)
					}
				}}
				parent, told := a.under(a.over(from, acquire))
				time.Sleep(10 * time.Minute)
				if c.passes {
					require.True(w.t, a.lives())
					require.Empty(w.t, told)
					// 0.1 s to 10 s, each half as long again as the one before, by half more or less: some 13, and then 60.
					require.InDelta(w.t, 75, campaigns.Load(), 25)
				} else {
					require.False(w.t, a.lives())
					require.EqualValues(w.t, 1, campaigns.Load())
					failed := <-told
					switch why := c.notice.(type) {
					case *messages.Failed:
						require.Equal(w.t, why.Reason, failed.Reason)
						require.Equal(w.t, why.Detail, failed.Detail)
					case *messages.Lost:
						require.Equal(w.t, why.Reason, failed.Reason)
					}
					require.Equal(w.t, path, failed.Path)
				}
				w.system.Root.Stop(parent)
				a.gone()
			})
		})
	}
}
