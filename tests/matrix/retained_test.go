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

// stickyPath is the lock that sticks.
const stickyPath = "/lock-sticky"

// retainLong is the time for which a node is retained when nobody comes: longer than any of the
// scenes.
const retainLong = time.Hour

// retained has our session hold a lock that sticks, and give it back: the node stays, and the session is told when
// somebody comes.
func (c *crowd) retained(t *testing.T, stays time.Duration) (node string) {
	t.Helper()
	c.know(t, c.ours, stickyPath)
	m := c.once(t, stays)
	synctest.Wait()
	require.Len(t, c.childrenOf(t, stickyPath), 1, "the node stays")
	return m.node(t)
}

// sticks has our session ask for the lock.
func (c *crowd) sticks(t *testing.T, stays time.Duration) *member {
	t.Helper()
	return c.enter(t, c.ours, stickyPath, locks.WithSticky(stays))
}

// validly reports whether a member holds with a lease that is valid.
func (m *member) validly(c *crowd) bool { return c.holds(m) && m.lease.Valid() }

// once is sticks, and gives back what it has got.
func (c *crowd) once(t *testing.T, stays time.Duration) *member {
	t.Helper()
	m := c.sticks(t, stays)
	c.awaitHolds(t, m)
	m.giveBack()
	<-m.done
	return m
}

// awaitNone waits until no node is left of a lock that sticks.
func (c *crowd) awaitNone(t *testing.T) {
	t.Helper()
	eventually(t, func() bool { return len(c.childrenOf(t, stickyPath)) == 0 }, "the node goes")
}

// comes has somebody of another session ask for the lock, and get it.
func (c *crowd) comes(t *testing.T) {
	t.Helper()
	m := c.enter(t, c.theirs, stickyPath)
	c.awaitHolds(t, m)
	m.giveBack()
	<-m.done
}

// arrivals is the reading of the queue by which a session learns of arrivals.
var arrivals = embedded.Fault{Op: embedded.OpGetChildren2, Path: stickyPath}

// readsArrivals has the reading meet an action, when a lock that sticks is given back for the first time.
func (c *crowd) readsArrivals(t *testing.T, action embedded.Action) *embedded.Injection {
	t.Helper()
	c.know(t, c.ours, stickyPath)
	f := arrivals
	f.Action = action
	f.Skip = 1 // the listing by which it finds that it is first
	injection := c.strike(t, f)
	c.once(t, retainLong)
	require.NoError(t, injection.Wait(patient(t)))
	synctest.Wait()
	return injection
}

// deletesRetained is the delete of the retained node.
var deletesRetained = embedded.Fault{Op: embedded.OpDelete, Path: stickyPath + "/*"}

// goesFor has somebody come while a node is retained, and its delete meet an action.
func goesFor(action embedded.Action) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		c.retained(t, retainLong)
		f := deletesRetained
		f.Action = action
		injection := c.strike(t, f)
		remote := c.enter(t, c.theirs, stickyPath)
		require.NoError(t, injection.Wait(patient(t)))
		again := c.sticks(t, retainLong) // asks while the node is on its way
		synctest.Wait()
		c.awaitHolds(t, remote)
		require.False(t, c.holds(again), "it came later")
		remote.giveBack()
		c.awaitHolds(t, again)
		again.giveBack()
		<-again.done
		c.comes(t)
	}
}

// retentions are faults that strike a sticky lock: nobody holds, and its node is still there.
var retentions = []plot{
	{name: "retained/cut", outcome: "nobody who comes would be heard of: the node goes when the session is back",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, retainLong)
			c.server.Replica(0).DropClients()
			c.awaitNone(t)
			c.once(t, retainLong)
			c.comes(t)
		}},
	{name: "retained/cut-and-asked-for", outcome: "no node is reused without a connection: the next request holds by another node",
		play: func(t *testing.T, c *crowd) {
			node := c.retained(t, retainLong)
			c.refuse(true)
			c.server.Replica(0).DropClients()
			synctest.Wait()
			again := c.sticks(t, retainLong)
			synctest.Wait()
			require.False(t, c.holds(again))
			c.refuse(false)
			c.awaitHolds(t, again)
			require.NotEqual(t, node, again.lease.Node())
			again.giveBack()
			<-again.done
			c.comes(t)
		}},
	{name: "retained/server-restarted", outcome: "the node goes when the session is back, and the one that came meanwhile holds",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, retainLong)
			c.server.Replica(0).Stop()
			remote := c.enter(t, c.theirs, stickyPath)
			time.Sleep(tick)
			require.NoError(t, c.server.Replica(0).Start())
			c.awaitHolds(t, remote)
		}},
	{name: "retained/session-expired", outcome: "the node goes with its session, and the next request makes another in the next",
		play: func(t *testing.T, c *crowd) {
			node := c.retained(t, retainLong)
			require.NoError(t, c.server.Expire(session(c.ours)))
			c.awaitNone(t)
			time.Sleep(tick) // it has heard of its end, which is before its time
			again := c.sticks(t, retainLong)
			c.awaitHolds(t, again)
			require.NotEqual(t, node, again.lease.Node())
			again.giveBack()
			<-again.done
			c.comes(t)
		}},
	{name: "retained/silence-until-expiry", outcome: "a request that comes meanwhile holds by a node of the next session, and not by one whose session nobody hears of",
		play: func(t *testing.T, c *crowd) {
			node := c.retained(t, retainLong)
			id := session(c.ours)
			time.Sleep(timeout) // the lease is no longer a new connection's
			kept := c.strike(t, embedded.Fault{Action: embedded.HoldReplies})
			require.NoError(t, kept.Wait(patient(t)))
			time.Sleep(timeout * 11 / 20) // its lease is over, and so is its chain of evidence
			again := c.sticks(t, retainLong)
			c.awaitHolds(t, again)
			require.NotEqual(t, node, again.node(t))
			require.NotEqual(t, id, session(c.ours))
			kept.Release()
			remote := c.enter(t, c.theirs, stickyPath)
			again.giveBack()
			c.awaitHolds(t, remote)
			remote.giveBack()
		}},
	{name: "retained/node-deleted", outcome: "that it is not what it was is heard: the next request makes another",
		play: func(t *testing.T, c *crowd) {
			node := c.retained(t, retainLong)
			require.NoError(t, c.operator.Delete(stickyPath+"/"+node, -1))
			synctest.Wait()
			again := c.sticks(t, retainLong)
			c.awaitHolds(t, again)
			require.NotEqual(t, node, again.lease.Node())
			again.giveBack()
			<-again.done
			c.comes(t)
		}},
	{name: "retained/time-over-while-away", outcome: "the node goes, once",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, time.Second)
			c.refuse(true)
			c.server.Replica(0).DropClients()
			time.Sleep(2 * time.Second)
			c.refuse(false)
			c.awaitNone(t)
			c.comes(t)
		}},
	{name: "retained/closed", outcome: "the node goes with its session, at once",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, retainLong)
			require.NoError(t, c.ours.Close(patient(t)))
			c.awaitNone(t)
			c.comes(t)
		}},
	{name: "arrivals/cut-before", outcome: "the queue was not read: the node goes when the session is back",
		play: func(t *testing.T, c *crowd) {
			c.readsArrivals(t, embedded.CutBefore)
			c.awaitNone(t)
			c.comes(t)
		}},
	{name: "arrivals/reply-lost", outcome: "whether somebody is there is not known: the node goes when the session is back",
		play: func(t *testing.T, c *crowd) {
			c.readsArrivals(t, embedded.CutAfter)
			c.awaitNone(t)
			c.comes(t)
		}},
	{name: "arrivals/session-expired", outcome: "the node goes with its session",
		play: func(t *testing.T, c *crowd) {
			c.readsArrivals(t, embedded.ExpireBefore)
			c.awaitNone(t)
			c.comes(t)
		}},
	{name: "arrivals/somebody-comes-before-the-reply", outcome: "the answer says nobody, and the event behind it that somebody came: the node goes for that one",
		play: func(t *testing.T, c *crowd) {
			kept := c.readsArrivals(t, embedded.HoldReplies)
			remote := c.enter(t, c.theirs, stickyPath)
			synctest.Wait()
			require.False(t, c.holds(remote))
			kept.Release()
			c.awaitHolds(t, remote)
		}},
	{name: "arrivals/taken-up-before-the-reply", outcome: "it is held when it is known that somebody came: that one holds when it is given back",
		play: func(t *testing.T, c *crowd) {
			kept := c.readsArrivals(t, embedded.HoldReplies)
			again := c.sticks(t, retainLong)
			c.awaitHolds(t, again)
			remote := c.enter(t, c.theirs, stickyPath)
			synctest.Wait()
			kept.Release()
			synctest.Wait()
			require.False(t, c.holds(remote))
			again.giveBack()
			c.awaitHolds(t, remote)
		}},
	{name: "arrivals/not-permitted", outcome: "a session that may not see who comes keeps no node",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, stickyPath)
			m := c.sticks(t, retainLong)
			c.awaitHolds(t, m)
			_, err := c.operator.SetACL(stickyPath, operatorACL(allButRead), -1)
			require.NoError(t, err)
			m.giveBack()
			<-m.done
			eventually(t, func() bool {
				_, stat, err := c.operator.Exists(stickyPath)
				return err == nil && stat.NumChildren == 0
			}, "the node goes")
			_, err = c.operator.SetACL(stickyPath, zk.WorldACL(zk.PermAll), -1)
			require.NoError(t, err)
			c.comes(t)
		}},
	{name: "somebody-comes/cut-before", play: goesFor(embedded.CutBefore),
		outcome: "the node that is to go for somebody goes when the session is back, and is not used again"},
	{name: "somebody-comes/reply-lost", play: goesFor(embedded.CutAfter),
		outcome: "that the node is gone is success: who came holds, and then who asked later"},
	{name: "somebody-comes/session-expired", play: goesFor(embedded.ExpireBefore),
		outcome: "the node goes with its session: who came holds, and then who asked later"},
	{name: "somebody-comes/reply-late", outcome: "the one that came holds while the delete is not answered; a request here meanwhile stands behind",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, retainLong)
			f := deletesRetained
			f.Action = embedded.HoldReplies
			kept := c.strike(t, f)
			remote := c.enter(t, c.theirs, stickyPath)
			require.NoError(t, kept.Wait(patient(t)))
			again := c.sticks(t, retainLong)
			c.awaitHolds(t, remote)
			kept.Release()
			synctest.Wait()
			require.False(t, c.holds(again))
		}},
	{name: "taken-up/cut", outcome: "the node is verified and held on; it goes when it is given back",
		play: func(t *testing.T, c *crowd) {
			node := c.retained(t, retainLong)
			again := c.sticks(t, retainLong)
			c.awaitHolds(t, again)
			require.Equal(t, node, again.lease.Node())
			c.server.Replica(0).DropClients()
			time.Sleep(timeout)
			require.True(t, again.lease.Valid())
			remote := c.enter(t, c.theirs, stickyPath)
			synctest.Wait()
			again.giveBack()
			c.awaitHolds(t, remote)
		}},
	{name: "taken-up/session-expired", outcome: "Lost, and the next token is greater",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, retainLong)
			again := c.sticks(t, retainLong)
			again.ends = bereft
			c.awaitHolds(t, again)
			require.NoError(t, c.server.Expire(session(c.ours)))
			awaitEnd(t, again.lease)
			c.comes(t)
		}},
	{name: "taken-up/node-deleted", outcome: "Lost, and the next token is greater",
		play: func(t *testing.T, c *crowd) {
			c.retained(t, retainLong)
			again := c.sticks(t, retainLong)
			again.ends = bereft
			c.awaitHolds(t, again)
			time.Sleep(tick) // it watches its node
			c.dismiss(t, again)
			awaitEnd(t, again.lease)
			c.comes(t)
		}},
}

func TestFaultsStrikeStickyLocks(t *testing.T) { testPlots(t, retentions) }
