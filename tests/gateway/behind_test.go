package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestTimeoutsSayBehindWhomOverGateway: a Lock over a gateway that is given up knows whom it waited for: what the node before
// it says, whether that is of another session, or of the gateway's by another requester.
func TestTimeoutsSayBehindWhomOverGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, patient.Session)
	client, other := s.outside.client(t, s.pid), s.direct(t)
	second := newNode(t).client(t, s.pid)
	label := locks.WithLabel("nightly run")
	begun := time.Now().Truncate(time.Second)
	for name, c := range map[string]struct{ holder, waiter locks.Locker }{
		"another session":   {other.Mutex("/a", label), client.Mutex("/a")},
		"this requester":    {client.Mutex("/b", label), client.Mutex("/b")},
		"another requester": {second.Mutex("/c", label), client.Mutex("/c")},
		"a cohort":          {second.Mutex("/d", label, locks.WithCohort(9)), client.Mutex("/d", locks.WithCohort(9))},
		"a contest":         {other.Contest("/e", label), client.Contest("/e")},
		"a reader":          {other.RWMutex("/f", label).Reader(), client.RWMutex("/f")},
		"a writer":          {other.RWMutex("/g", label), client.RWMutex("/g").Reader()},
		"a permit":          {other.Semaphore("/h", 2, label).Weight(2), client.Semaphore("/h", 2).Weight(1)},
	} {
		t.Run(name, func(t *testing.T) {
			held, err := c.holder.Lock(patient.Deadline(t))
			require.NoError(t, err)
			var e *locks.Error
			for patience := 10 * time.Millisecond; e == nil || e.Behind.Node != held.Node() || e.Behind.Host == ""; patience *= 2 {
				require.Less(t, patience, patient.Bound, "it never knows")
				ctx, cancel := context.WithTimeout(patient.Deadline(t), patience)
				_, err = c.waiter.Lock(ctx)
				cancel()
				require.ErrorAs(t, err, &e)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			require.Equal(t, messages.StateWatching, e.State)
			require.Equal(t, held.Path(), e.Behind.Path)
			require.Equal(t, "nightly run", e.Behind.Label)
			require.False(t, e.Behind.Since.Before(begun))
			require.ErrorContains(t, err, `"nightly run", process `)
			patient.GiveBack(t, held)
		})
	}
}
