package matrix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A test cannot step the wall clock of its machine, and Go reads the clock without a library that could be put
// in between. What judges a step, the lease clock, is shown it by the tests of package zkconn; what is left to
// show is that nothing but that clock decides, and that it goes by the monotonic reading.
var clockSteppedCells = append(
	absurd(clockStepped, "nothing that is asked for then depends on the wall clock; only a lease does", but(verify)...),
	cell{request: verify, fault: clockStepped,
		outcome: "the lease runs by the monotonic clock; a step of over a quarter of the session timeout ends it",
		run: func(t *testing.T) {
			requireTests(t, "zkconn", "TestLeaseClockNoticesAJump", "TestLeaseClock")
			server := embedded.Run(t)
			client := openReal(t, server.Addr(), locks.WithSessionTimeout(long))
			lease, err := client.Mutex(lockPath).Lock(bounded(t))
			require.NoError(t, err)
			ends := lease.Deadline()
			require.NotEqual(t, ends.Round(0).String(), ends.String(), "a deadline without a monotonic reading")
			require.Less(t, time.Until(ends), long)
			require.True(t, lease.Valid())
			require.NoError(t, lease.Unlock(bounded(t)))
		}})
