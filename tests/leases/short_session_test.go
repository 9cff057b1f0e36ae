package leases

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// A session timeout far below what servers grant: they grant their least, and all is as ever.
func TestSessionTimeoutBelowTheServersLeast(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t, locks.WithSessionTimeout(time.Millisecond))
		patient.Eventually(t, func() bool { // such a short lease may be over when Lock returns
			lease, err := client.Mutex("/short").Lock(patient.Deadline(t))
			if err != nil {
				return false
			}
			valid := lease.Valid()
			_ = lease.Unlock(patient.Deadline(t))
			return valid
		}, "no lease was ever valid")
		require.NoError(t, client.Close(patient.Deadline(t)))
	})
}
