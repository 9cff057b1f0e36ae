package locks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestUnlockIsBoundByTheLeaseAsItIs, and not as it was when the lock was granted: the session was
// then connected to a server that grants a shorter timeout.
func TestUnlockIsBoundByTheLeaseAsItIs(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		clock func(*zkconn.LeaseClock)
		bound time.Duration
	}{
		"sooner than at first": {func(l *zkconn.LeaseClock) { l.Extend(now.Add(time.Minute)) }, time.Minute},
		"renewed since":        {func(l *zkconn.LeaseClock) { l.Extend(now.Add(2 * time.Hour)) }, 2 * time.Hour},
		"the session has ended": {func(l *zkconn.LeaseClock) {
			l.Extend(now.Add(time.Minute))
			l.End()
		}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			clock := zkconn.NewLeaseClock(func() time.Duration { return 0 })
			from := &lock{client: &Client{session: &actors.Session{}}}
			lease := &Lease{from: from, hold: &sharing.Hold{Held: &messages.Held{Until: now.Add(time.Hour)}, Clock: clock}}
			c.clock(clock)
			require.WithinDuration(t, now.Add(c.bound), lease.bound(now), time.Second/20)
		})
	}
}
