package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestClockOfAnotherEpoch: the clock of an epoch that is over is never valid, though somebody extends it.
func TestClockOfAnotherEpoch(t *testing.T) {
	session, _ := spied(t, embedded.Run(t))
	for _, epoch := range []uint64{0, 2} {
		clock := session.Clock(epoch)
		clock.Extend(time.Now().Add(time.Hour))
		require.False(t, clock.Valid())
	}
}
