package gateway

import (
	"testing"

	"github.com/turnstile-locks/turnstile/locks"
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
			patient.RequireBehind(t, c.holder, c.waiter)
		})
	}
}
