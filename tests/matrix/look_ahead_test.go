package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// aheadPath is the lock of a line.
const aheadPath = "/lock-ahead"

// line is four requests of four sessions, one behind the other, and one behind them. The subject is the last of the four: it
// waits for the third, and watches the second as well, to know that the third is the head before the third goes.
type line struct {
	*crowd
	third, subject, behind *member
}

// lines gives a line a story, of which the third holds when it begins. The subject's listing ahead of time has met an action.
// Where none is made, the fault meets the listing that the subject makes when it is woken.
func lines(action embedded.Action, tell func(t *testing.T, l *line)) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		c.know(t, aheadPath)
		var all []*member
		for range 3 {
			all = append(all, c.queue(t, c.open(t, locks.WithSessionTimeout(steady)), 1, aheadPath)...)
		}
		all = append(append(all, c.queue(t, c.ours, 1, aheadPath)...), c.queue(t, c.theirs, 1, aheadPath)...)
		f := c.strike(t, embedded.Fault{Op: embedded.OpGetChildren2, Path: aheadPath, Action: action})
		for _, m := range all[:2] {
			c.awaitHolds(t, m)
			m.giveBack()
		}
		c.awaitHolds(t, all[2])
		synctest.Wait()
		if scene.Fast(t, "look-ahead") {
			require.Positive(t, f.Hits(), "it lists while the one before it holds")
		}
		tell(t, &line{c, all[2], all[3], all[4]})
	}
}

// TestFaultsStrikeWhoLooksAhead: faults that strike a waiter that looks ahead.
func TestFaultsStrikeWhoLooksAhead(t *testing.T) {
	inTurn := func(t *testing.T, l *line) { l.inOrder(t, l.third, l.subject, l.behind) }
	testPlots(t, []plot{
		{"listing/reply-lost", "it lists again when the connection is back, and holds when the one before it goes",
			lines(embedded.CutAfter, inTurn)},
		{"listing/session-expired", "it queues again in the next session, behind the one that stood behind it",
			lines(embedded.ExpireBefore, func(t *testing.T, l *line) {
				if scene.Fast(t, "look-ahead") {
					l.inOrder(t, l.third, l.behind, l.subject)
				}
			})},
		{"third-session-expired", "its node goes with its session: the subject is next",
			lines(embedded.Pass, func(t *testing.T, l *line) {
				l.loses(l.third) // its session is ended before its time
				require.NoError(t, l.server.Expire(session(l.third.client)))
				l.inOrder(t, l.subject, l.behind)
			})},
		{"cut-after-looking", "what it saw ahead of time is not believed over a cut: it finds out anew, and holds in its turn",
			lines(embedded.Pass, func(t *testing.T, l *line) {
				l.refuse(true)
				l.server.Replica(0).DropClients()
				synctest.Wait()
				l.refuse(false)
				time.Sleep(tick)
				inTurn(t, l)
			})},
	})
}
