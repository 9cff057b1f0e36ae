package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// checksRetained is the transaction that checks a retained node when it is asked for. Heartbeats are
// the same; none is sent while no time passes.
var checksRetained = embedded.Fault{Op: embedded.OpMulti, Path: stickyPath + "/*"}

// asksFor has our session ask for a retained node, and the check meet an action.
func (c *crowd) asksFor(t *testing.T, stays time.Duration, action embedded.Action) (node string, again *member,
	met *embedded.Injection) {
	t.Helper()
	node = c.retained(t, stays)
	f := checksRetained
	f.Action = action
	met = c.strike(t, f)
	again = c.sticks(t, stays)
	require.NoError(t, met.Wait(patient(t)))
	synctest.Wait()
	return node, again, met
}

// asksThrough is asksFor for a check of which the answer never comes.
func asksThrough(action embedded.Action) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		node, again, _ := c.asksFor(t, retainLong, action)
		c.awaitHolds(t, again)
		require.NotEqual(t, node, again.lease.Node())
		require.NotContains(t, c.childrenOf(t, stickyPath), node)
	}
}

// goesUnheard has a retained node deleted while nothing that the servers say reaches its session,
// which is asked for it.
func goesUnheard(remove func(t *testing.T, c *crowd, node string)) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		node := c.retained(t, retainLong)
		kept := c.strike(t, embedded.Fault{Action: embedded.HoldReplies})
		require.NoError(t, kept.Wait(patient(t))) // a heartbeat
		remove(t, c, node)
		remote := c.enter(t, c.theirs, stickyPath)
		c.awaitHolds(t, remote)
		again := c.sticks(t, retainLong)
		synctest.Wait()
		require.False(t, c.holds(again), "by a node that is gone")
		kept.Release()
		synctest.Wait()
		require.False(t, c.holds(again), "by a node that is gone")
		remote.giveBack()
		c.awaitHolds(t, again)
		require.NotEqual(t, node, again.lease.Node())
	}
}

// givesUp has a member end its Lock, and waits until that has returned.
func (m *member) givesUp(t *testing.T) {
	t.Helper()
	m.ends = givenUp
	m.cancel()
	select {
	case <-m.done:
	case <-patient(t).Done():
		t.Fatalf("Lock does not return; it went %v", m.rec.States())
	}
}

// reuses are faults that strike while a retained node is asked for.
var reuses = []plot{
	{name: "deleted-unheard", outcome: "the node is not reused: the request makes another, and holds behind the one that came",
		play: goesUnheard(func(t *testing.T, c *crowd, node string) {
			require.NoError(t, c.operator.Delete(stickyPath+"/"+node, -1))
		})},
	{name: "broken-unheard", outcome: "the node is not reused: the request makes another, and holds behind the one that came",
		play: goesUnheard(func(t *testing.T, c *crowd, node string) {
			queue, err := c.theirs.Queue(patient(t), stickyPath)
			require.NoError(t, err)
			require.Len(t, queue, 1)
			require.NoError(t, c.theirs.Break(patient(t), queue[0]))
		})},
	{name: "deleted-behind-the-check", outcome: "as a holder's that an operator deletes: it is lost, or was never held",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			again.ends = either
			c.seen.excuse(again)
			require.NoError(t, c.operator.Delete(stickyPath+"/"+node, -1))
			remote := c.enter(t, c.theirs, stickyPath)
			c.awaitHolds(t, remote)
			kept.Release()
			time.Sleep(tick) // the holder has read its node
			require.False(t, again.validly(c))
		}},
	{name: "cut-before", play: asksThrough(embedded.CutBefore),
		outcome: "the node goes, and the request makes another when the session is back"},
	{name: "reply-lost", play: asksThrough(embedded.CutAfter),
		outcome: "the node goes, and the request makes another when the session is back"},
	{name: "session-expired", play: asksThrough(embedded.ExpireBefore),
		outcome: "the node goes with its session, and the request makes another in the next"},
	{name: "reply-late", outcome: "the lock is held when the answer is there, and not before",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			require.False(t, c.holds(again))
			time.Sleep(tick)
			require.False(t, c.holds(again))
			kept.Release()
			c.awaitHolds(t, again)
			require.Equal(t, node, again.lease.Node())
		}},
	{name: "given-up", outcome: "it is given up at once, and the node stays retained for the next",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			again.givesUp(t)
			synctest.Wait()
			last := again.rec.Transitions()
			require.Equal(t, messages.StateCancelled, last[len(last)-1].To)
			kept.Release()
			synctest.Wait()
			require.Equal(t, []string{node}, c.childrenOf(t, stickyPath))
			require.Equal(t, node, c.once(t, retainLong).lease.Node())
		}},
	{name: "given-up-when-somebody-has-come", outcome: "the node goes, and the one that has come holds",
		play: func(t *testing.T, c *crowd) {
			_, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			remote := c.enter(t, c.theirs, stickyPath)
			synctest.Wait()
			again.givesUp(t)
			kept.Release()
			c.awaitHolds(t, remote)
		}},
	{name: "given-up-when-its-time-is-over", outcome: "the node goes, once its request has",
		play: func(t *testing.T, c *crowd) {
			_, again, kept := c.asksFor(t, time.Second, embedded.HoldReplies)
			time.Sleep(2 * time.Second)
			again.givesUp(t)
			kept.Release()
			c.awaitNone(t)
		}},
	{name: "somebody-comes", outcome: "it is held once more: who comes is behind it, and holds next",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			remote := c.enter(t, c.theirs, stickyPath)
			synctest.Wait()
			require.False(t, c.holds(remote))
			kept.Release()
			c.awaitHolds(t, again)
			require.Equal(t, node, again.lease.Node())
			again.giveBack()
			c.awaitHolds(t, remote)
		}},
	{name: "revoke-requested", outcome: "a later request was not asked: it makes another node, and the other one goes",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			asked, err := c.theirs.Revoke(patient(t), stickyPath)
			require.NoError(t, err)
			require.Len(t, asked, 1)
			kept.Release()
			c.awaitHolds(t, again)
			time.Sleep(tick) // it has read its node
			select {
			case <-again.lease.Revoked():
				require.Equal(t, node, again.lease.Node(), "that was found before it was asked for")
			default:
				require.NotEqual(t, node, again.lease.Node())
			}
		}},
	{name: "asked-for-twice", outcome: "the second stands behind the first, and holds next",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			second := c.sticks(t, retainLong)
			synctest.Wait()
			kept.Release()
			c.awaitHolds(t, again)
			require.Equal(t, node, again.lease.Node())
			again.giveBack()
			c.awaitHolds(t, second)
		}},
	{name: "given-up-and-asked-for-again", outcome: "the answer to the first check does not count for the second request",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, retainLong, embedded.HoldReplies)
			again.givesUp(t)
			require.NoError(t, c.operator.Delete(stickyPath+"/"+node, -1)) // the first check has found it
			remote := c.enter(t, c.theirs, stickyPath)
			c.awaitHolds(t, remote)
			second := c.sticks(t, retainLong)
			synctest.Wait()
			kept.Release()
			synctest.Wait()
			require.False(t, c.holds(second))
			remote.giveBack()
			c.awaitHolds(t, second)
		}},
	{name: "time-over", outcome: "it is held, and is retained again when it is given back",
		play: func(t *testing.T, c *crowd) {
			node, again, kept := c.asksFor(t, time.Second, embedded.HoldReplies)
			time.Sleep(2 * time.Second)
			kept.Release()
			c.awaitHolds(t, again)
			require.Equal(t, node, again.lease.Node())
			again.giveBack()
			<-again.done
			require.Equal(t, []string{node}, c.childrenOf(t, stickyPath))
			c.awaitNone(t)
		}},
	{name: "closed", outcome: "the request ends with its session",
		play: func(t *testing.T, c *crowd) {
			c.asksFor(t, retainLong, embedded.HoldReplies)
			c.members = c.members[:len(c.members)-1] // it ends with the session, which conclude has no word for
			require.NoError(t, c.ours.Close(patient(t)), "no answer reaches it, and it has time to tell the servers otherwise")
			c.awaitNone(t)
			c.comes(t)
		}},
}

// TestFaultsStrikeReuse: a retained node is reused only when the ensemble has found it after the
// request came.
func TestFaultsStrikeReuse(t *testing.T) { testPlots(t, reuses) }
