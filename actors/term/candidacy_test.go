package term_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

var errLost = errors.New("lost")

// TestLeaseEndsFirst: however a lock is lost, the lease has ended when that is told, and when the lock actor goes on to
// delete its node.
func TestLeaseEndsFirst(t *testing.T) {
	for name, lose := range map[string]func(*term.Candidacy, *zkconn.LeaseClock){
		"released by others": func(c *term.Candidacy, _ *zkconn.LeaseClock) { c.Moved(messages.StateReleasing, "") },
		"over":               func(c *term.Candidacy, _ *zkconn.LeaseClock) { c.Moved(messages.StateLost, "") },
		"broken":             func(c *term.Candidacy, _ *zkconn.LeaseClock) { c.Hear(nil, &messages.Revoked{}) },
		"lost":               func(c *term.Candidacy, _ *zkconn.LeaseClock) { c.Hear(nil, &messages.Lost{}) },
		"by the clock": func(_ *term.Candidacy, clock *zkconn.LeaseClock) {
			time.Sleep(time.Until(clock.Deadline()))
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := zkconn.NewLeaseClock(nil)
				clock.Extend(time.Now().Add(10 * time.Second))
				number, _ := clock.Term()
				c := &term.Candidacy{Clock: func(uint64) *zkconn.LeaseClock { return clock }, Lost: errLost}
				c.Tell = func(_ *term.Candidacy, ev term.Event, _ error) {
					require.Equal(t, ev.Kind == term.Held, c.Lease().Valid(), ev.Kind)
				}
				c.Hear(nil, &messages.Held{Term: number})
				time.Sleep(time.Until(clock.Deadline()) - 1)
				require.NoError(t, c.Lease().Context.Err())
				lose(c, clock)
				require.ErrorIs(t, context.Cause(c.Lease().Context), errLost)
				require.False(t, c.Lease().Valid())
			})
		})
	}
}
