package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// aheadPath is the lock of a line.
const aheadPath = "/lock-ahead"

// line is four requests of four sessions, one behind the other, and one behind them. The subject is the last of the four: it
// waits for the third, and watches the second as well, to know that the third is the head before the third goes.
type line struct {
	*crowd
	holder, second, third, subject, behind *member
}

func (c *crowd) line(t *testing.T) *line {
	t.Helper()
	c.know(t, c.ours, aheadPath)
	l := &line{crowd: c}
	for i, m := range []**member{&l.holder, &l.second, &l.third, &l.subject, &l.behind} {
		client := c.ours
		switch {
		case i == 4:
			client = c.theirs
		case i != 3:
			client = c.joinClient(t, locks.WithSessionTimeout(steady))
		}
		*m = c.enter(t, client, aheadPath)
		synctest.Wait()
	}
	c.awaitHolds(t, l.holder)
	return l
}

// listsAhead has the holder give back, and the subject's listing ahead of time meet an action. Where none is made the
// fault meets the listing that the subject makes when it is woken.
func (l *line) listsAhead(t *testing.T, action embedded.Action) *embedded.Injection {
	t.Helper()
	f := l.strike(t, embedded.Fault{Op: embedded.OpGetChildren2, Path: aheadPath, Action: action})
	l.holder.giveBack()
	l.awaitHolds(t, l.second)
	l.second.giveBack()
	l.awaitHolds(t, l.third)
	synctest.Wait()
	if fast(t, "look-ahead") {
		require.Positive(t, f.Hits(), "it lists while the one before it holds")
	}
	return f
}

// finish has the third give back, and the subject and the one behind it hold after it, in this order.
func (l *line) finish(t *testing.T) {
	t.Helper()
	require.False(t, l.holds(l.subject))
	l.third.giveBack()
	l.awaitHolds(t, l.subject)
	require.False(t, l.holds(l.behind))
	l.subject.giveBack()
	l.awaitHolds(t, l.behind)
}

// lookingAhead are faults that strike a waiter that looks ahead.
var lookingAhead = []plot{
	{name: "listing/cut-before", outcome: "it lists again when the connection is back, and holds when the one before it goes",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.listsAhead(t, embedded.CutBefore)
			l.finish(t)
		}},
	{name: "listing/reply-lost", outcome: "it lists again when the connection is back, and holds when the one before it goes",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.listsAhead(t, embedded.CutAfter)
			l.finish(t)
		}},
	{name: "listing/reply-late", outcome: "the one before it goes before the answer comes: it lists once more, and holds",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			kept := l.listsAhead(t, embedded.HoldReplies)
			l.third.giveBack()
			synctest.Wait()
			require.False(t, c.holds(l.behind))
			kept.Release()
			c.awaitHolds(t, l.subject)
			require.False(t, c.holds(l.behind))
		}},
	{name: "listing/session-expired", outcome: "it queues again in the next session, behind the one that stood behind it",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.listsAhead(t, embedded.ExpireBefore)
			l.third.giveBack()
			if fast(t, "look-ahead") {
				c.awaitHolds(t, l.behind)
				require.False(t, c.holds(l.subject))
			}
		}},
	{name: "listing/not-permitted", outcome: "what it may not see ahead of time it does not need: it holds when it may read again and the one before it goes",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.holder.giveBack()
			c.awaitHolds(t, l.second)
			_, err := c.operator.SetACL(aheadPath, zk.WorldACL(allButRead), -1)
			require.NoError(t, err)
			l.second.giveBack()
			synctest.Wait() // nobody else lists: the one that waits for the second has looked ahead
			_, err = c.operator.SetACL(aheadPath, zk.WorldACL(zk.PermAll), -1)
			require.NoError(t, err)
			if !fast(t, "look-ahead") { // each in turn had to look, and was not permitted to
				l.third.ends, l.subject.ends, l.behind.ends = turnedAway, turnedAway, turnedAway
				return
			}
			c.awaitHolds(t, l.third)
			l.finish(t)
		}},
	{name: "second-gives-up", outcome: "others are before the one before it still: it watches the last of them, and holds in its turn",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.second.ends = givenUp
			l.second.cancel()
			<-l.second.done
			synctest.Wait()
			l.holder.giveBack()
			c.awaitHolds(t, l.third)
			l.finish(t)
		}},
	{name: "second-gives-up/listing-cut", outcome: "it lists again when the connection is back, and holds in its turn",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			c.strike(t, embedded.Fault{Op: embedded.OpGetChildren2, Path: aheadPath, Action: embedded.CutAfter})
			l.second.ends = givenUp
			l.second.cancel()
			<-l.second.done
			synctest.Wait()
			l.holder.giveBack()
			c.awaitHolds(t, l.third)
			l.finish(t)
		}},
	{name: "third-gives-up", outcome: "the one it waits for goes while it does not hold: it lists, and waits for the second",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.third.ends = givenUp
			l.third.cancel()
			<-l.third.done
			synctest.Wait()
			require.False(t, c.holds(l.subject))
			l.holder.giveBack()
			c.awaitHolds(t, l.second)
			require.False(t, c.holds(l.subject))
			l.second.giveBack()
			c.awaitHolds(t, l.subject)
			require.False(t, c.holds(l.behind))
		}},
	{name: "second-and-third-give-up", outcome: "both that it watches go before it has listed: it waits for the holder",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			kept := c.strike(t, embedded.Fault{Op: embedded.OpGetChildren2, Path: aheadPath, Action: embedded.HoldReplies})
			for _, m := range []*member{l.second, l.third} {
				m.ends = givenUp
				m.cancel()
				<-m.done
				synctest.Wait()
			}
			kept.Release()
			synctest.Wait()
			require.False(t, c.holds(l.subject))
			l.holder.giveBack()
			c.awaitHolds(t, l.subject)
			require.False(t, c.holds(l.behind))
		}},
	{name: "third-node-deleted", outcome: "an operator deletes the node of the one that holds: the subject, which has looked ahead, is next",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.holder.giveBack()
			c.awaitHolds(t, l.second)
			l.second.giveBack()
			c.awaitHolds(t, l.third)
			time.Sleep(tick) // it watches its node
			c.dismiss(t, l.third)
			l.third.ends = bereft
			c.awaitHolds(t, l.subject)
			require.False(t, c.holds(l.behind))
		}},
	{name: "third-session-expired", outcome: "its node goes with its session: the subject is next",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.holder.giveBack()
			c.awaitHolds(t, l.second)
			l.second.giveBack()
			c.awaitHolds(t, l.third)
			c.seen.excuse(l.third) // its session is ended before its time
			l.third.ends = bereft
			require.NoError(t, c.server.Expire(session(l.third.client)))
			c.awaitHolds(t, l.subject)
			require.False(t, c.holds(l.behind))
		}},
	{name: "cut-after-looking", outcome: "what it saw ahead of time is not believed over a cut: it finds out anew, and holds in its turn",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.holder.giveBack()
			c.awaitHolds(t, l.second)
			l.second.giveBack()
			c.awaitHolds(t, l.third)
			c.refuse(true)
			c.server.Replica(0).DropClients()
			synctest.Wait()
			c.refuse(false)
			time.Sleep(tick)
			l.finish(t)
		}},
	{name: "node-deleted-after-looking", outcome: "it knows that it is next and has no place any more: it queues again, or has lost what it is given",
		play: func(t *testing.T, c *crowd) {
			l := c.line(t)
			l.holder.giveBack()
			c.awaitHolds(t, l.second)
			l.second.giveBack()
			c.awaitHolds(t, l.third)
			c.dismiss(t, l.subject)
			l.subject.ends = either
			l.third.giveBack()
			c.awaitHolds(t, l.behind)
		}},
}

func TestFaultsStrikeWhoLooksAhead(t *testing.T) { testPlots(t, lookingAhead) }
