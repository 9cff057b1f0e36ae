package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// A session timeout far below what servers grant: they grant their least, and all is as ever.
func TestSessionTimeoutBelowTheServersLeast(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect(), locks.WithSessionTimeout(time.Millisecond))
		eventually(t, func() bool { // such a short lease may be over when Lock returns
			lease, err := client.Mutex("/short").Lock(deadline(t))
			if err != nil {
				return false
			}
			valid := lease.Valid()
			_ = lease.Unlock(deadline(t))
			return valid
		}, "no lease was ever valid")
		require.NoError(t, client.Close(deadline(t)))
	})
}
