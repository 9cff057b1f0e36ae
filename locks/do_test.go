package locks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// TestTermDoesNotBeginAfterTheLease: where the lock was lost between its grant and the beginning of the term, as in a
// process that was paused, no work begins, and the error says why.
func TestTermDoesNotBeginAfterTheLease(t *testing.T) {
	late := &tenure{}
	late.serve(t.Context(), term.Once, func(context.Context) (*Lease, error) { return lostLease(t), nil },
		func(context.Context) error {
			t.Error("the work began")
			return nil
		})
	require.ErrorIs(t, late.err, ErrLost)
	require.NotErrorIs(t, late.err, context.Canceled)
}

// TestWorkDoesNotBeginAfterTheLease: so it is where the lock was lost within the term, before the work was called, as
// while the mark of a RunOnce was read.
func TestWorkDoesNotBeginAfterTheLease(t *testing.T) {
	late := &tenure{ctx: t.Context(), lease: lostLease(t)}
	err := late.call(t.Context(), func(context.Context, Token) error {
		t.Error("the work was called")
		return nil
	})
	require.ErrorIs(t, err, ErrLost)
	require.NotErrorIs(t, err, context.Canceled)
}

// lostLease gives a lease that somebody has broken.
func lostLease(t *testing.T) *Lease {
	lease := held(t)
	client := lease.from.client
	queue, err := client.Queue(t.Context(), lease.Path())
	require.NoError(t, err)
	require.Len(t, queue, 1)
	require.NoError(t, client.Break(t.Context(), queue[0]))
	<-lease.Context().Done()
	return lease
}
