package elections

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestPrioritiesOnServers: the better place leads, though it came last.
func TestPrioritiesOnServers(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		among := leaders{real: true}
		const after = 200 * time.Millisecond
		low := lead(patient.Deadline(t), zk.Open(t).Election("/lead", locks.WithPriority(1, after)),
			"low", &among)
		one := low.term(t)
		high := lead(patient.Deadline(t), zk.Open(t).Election("/lead", locks.WithPriority(2, after)),
			"high", &among)
		require.Greater(t, high.term(t).Token(), one.Token())
		require.ErrorIs(t, context.Cause(one.Context()), locks.ErrReleased, "it was asked, and has resigned")
		require.ErrorIs(t, high.end(t), context.Canceled)
		low.term(t)
		require.ErrorIs(t, low.end(t), context.Canceled)
		_, err := zk.Open(t).Election("/lead",
			locks.WithPriority(-1, 0)).Campaign(patient.Deadline(t), "x")
		require.ErrorIs(t, err, locks.ErrBadAcquire)
	})
}
