package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// A create whose outcome is unknown takes nothing away of what others have learnt of the lock path.
func TestUnknownCreateKeepsWhatIsKnown(t *testing.T) {
	a := newAlone(t, 1)
	c, _ := a.contend("")
	known := facts{exists: true, counted: true}
	for _, e := range []struct {
		err  error
		left facts
	}{{nil, known}, {zkconn.ErrUnknownOutcome, known}, {zkconn.ErrUnavailable, known}, {zkconn.ErrNoNode, facts{}}} {
		a.facts.Add("/p", known)
		learnt := facts{}
		if e.err == nil {
			learnt = known
		}
		c.creates++
		a.created(c, 1, zkconn.Created{Sent: time.Now()}, learnt, e.err)
		left, _ := a.facts.Get("/p")
		require.Equal(t, e.left, left, "%v", e.err)
	}
}
