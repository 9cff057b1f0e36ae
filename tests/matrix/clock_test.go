package matrix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A test cannot step the wall clock of its machine. The lease clock does not read it, but on
// systems without a clock that counts suspended time; tests of package zkconn show that. These
// cells show that nothing but the lease clock decides, and that its deadline has a monotonic
// reading.
var clockSteppedCells = append(
	absurd(clockStepped, "nothing that is asked for then depends on the wall clock; only a lease does", but(verify)...),
	cell{request: verify, fault: clockStepped,
		outcome: "the lease runs by the monotonic clock and the time for which the machine was suspended",
		run: func(t *testing.T) {
			requireTests(t, "zkconn/lease", "TestClockCountsSuspendedTime", "TestWallSuspended")
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
