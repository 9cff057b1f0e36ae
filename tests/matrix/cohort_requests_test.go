package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// aftermath goes on when a fault has struck.
type aftermath func(t *testing.T, m *midCohort, fault *embedded.Injection)

// meets puts a fault in place. A session that is made to expire before its time hears of it late: its holder is excused.
func (m *midCohort) meets(t *testing.T, f embedded.Fault) *embedded.Injection {
	t.Helper()
	if f.Action == embedded.ExpireBefore {
		m.seen.excuse(m.holder)
	}
	return m.strike(t, f)
}

// watchStruck has a fault strike the watch that is set when a node is passed on for the first time.
func watchStruck(action embedded.Action, then aftermath) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		m := c.begins(t, c.ours, 2, many)
		fault := m.meets(t, embedded.Fault{Op: embedded.OpGetData, Path: cohortNodes, Action: action})
		m.passes(t)
		require.NoError(t, fault.Wait(patient(t)))
		then(t, m, fault)
	}
}

// holdsOn: the holder has lost nothing, and gives back.
func holdsOn(t *testing.T, m *midCohort, _ *embedded.Injection) {
	t.Helper()
	time.Sleep(tick)
	require.True(t, m.holder.lease.Valid())
	require.False(t, m.holds(m.remote))
	m.holder.giveBack()
	m.othersTurn(t)
}

// deleteStruck has a fault strike the delete of a node that has served all its grants: the next, which waited without a
// node, has one behind the other session's by then.
func deleteStruck(action embedded.Action, then func(m *midCohort, fault *embedded.Injection)) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		m := c.midway(t, 2, 2)
		require.Len(t, c.childrenOf(t, cohortPath), 3)
		fault := m.meets(t, embedded.Fault{Op: embedded.OpDelete, Path: cohortNodes, Action: action})
		m.cut = action == embedded.CutBefore || action == embedded.CutAfter
		m.holder.giveBack()
		require.NoError(t, fault.Wait(patient(t)))
		if then != nil {
			then(m, fault)
		}
		m.othersTurn(t)
	}
}

// createStruck has a fault strike the create of the node by which the next cohort begins.
func createStruck(action embedded.Action, then aftermath) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		m := c.begins(t, c.ours, 2, 2)
		fault := m.meets(t, embedded.Fault{Op: embedded.OpCreate, Path: cohortPath + "/*-lock-", Action: action})
		m.cut = action == embedded.CutAfter
		m.passes(t)
		require.NoError(t, fault.Wait(patient(t)))
		then(t, m, fault)
	}
}

// cohortRequests are faults that strike the requests of a cohort.
var cohortRequests = []plot{
	{name: "watch/cut-before", outcome: "it holds on", play: watchStruck(embedded.CutBefore, holdsOn)},
	{name: "watch/reply-lost", outcome: "it holds on", play: watchStruck(embedded.CutAfter, holdsOn)},
	{name: "watch/reply-late", outcome: "it holds on", play: watchStruck(embedded.HoldReplies,
		func(t *testing.T, m *midCohort, kept *embedded.Injection) {
			time.Sleep(tick)
			kept.Release()
			holdsOn(t, m, kept)
		})},
	{name: "watch/silence-until-expiry", outcome: "Lost by the clock, before the other session is let in",
		play: watchStruck(embedded.HoldReplies, func(t *testing.T, m *midCohort, kept *embedded.Injection) {
			m.holder.ends = bereft
			m.silence(t, session(m.ours), kept)
			m.othersTurn(t)
		})},
	{name: "watch/session-expired", outcome: "Lost, and those that waited stand behind the other session",
		play: watchStruck(embedded.ExpireBefore, func(t *testing.T, m *midCohort, _ *embedded.Injection) {
			m.loses(t)
			awaitEnd(t, m.holder.lease)
			m.othersTurn(t)
		})},

	{name: "delete/cut-before", outcome: "it is deleted when the session is back, and the other session holds",
		play: deleteStruck(embedded.CutBefore, nil)},
	{name: "delete/reply-lost", outcome: "Unlock finds that it is gone, and the other session holds",
		play: deleteStruck(embedded.CutAfter, nil)},
	{name: "delete/session-expired", outcome: "it has gone with its session, and the other session holds",
		play: deleteStruck(embedded.ExpireBefore, nil)},
	{name: "delete/reply-late", outcome: "the other session holds before Unlock returns",
		play: deleteStruck(embedded.HoldReplies, func(m *midCohort, kept *embedded.Injection) {
			time.Sleep(tick)
			kept.Release()
		})},

	{name: "create/cut-before",
		outcome: "it is made when the session is back: one node", play: createStruck(embedded.CutBefore, holdsOn)},
	{name: "create/reply-lost",
		outcome: "it is found when the session is back: one node", play: createStruck(embedded.CutAfter, holdsOn)},
	{name: "create/reply-late",
		outcome: "those that wait do so behind it: one node", play: createStruck(embedded.HoldReplies,
			func(t *testing.T, m *midCohort, kept *embedded.Injection) {
				time.Sleep(tick)
				kept.Release()
				holdsOn(t, m, kept)
			})},
	{name: "create/session-expired", outcome: "Lost, and those that waited have one node in the next session",
		play: createStruck(embedded.ExpireBefore, func(t *testing.T, m *midCohort, _ *embedded.Injection) {
			m.loses(t)
			awaitEnd(t, m.holder.lease)
			m.othersTurn(t)
		})},
}

// TestFaultsStrikeRequestsOfCohorts: nobody holds but by the node that is there.
func TestFaultsStrikeRequestsOfCohorts(t *testing.T) { testPlots(t, cohortRequests) }

// leads is a cohort that waits: another session holds, one of ours has a node behind it, and some wait behind that.
func (c *crowd) leads(t *testing.T, waiting int) (remote, leader *member, rest []*member) {
	t.Helper()
	c.know(t, c.ours, cohortPath)
	remote = c.enter(t, c.theirs, cohortPath)
	c.awaitHolds(t, remote)
	all := c.queue(t, c.ours, 1+waiting, cohortPath, locks.WithCohort(many))
	require.Len(t, c.childrenOf(t, cohortPath), 2)
	return remote, all[0], all[1:]
}

// oneNode: all of ours have one node, behind the other session's, and hold one after the other when that is gone.
func (c *crowd) oneNode(t *testing.T, remote *member, ours ...*member) {
	t.Helper()
	c.fewNodes(t, 1, remote, ours...)
}

// fewNodes is oneNode for as many nodes.
func (c *crowd) fewNodes(t *testing.T, nodes int, remote *member, ours ...*member) {
	t.Helper()
	time.Sleep(tick)
	synctest.Wait()
	require.Len(t, c.childrenOf(t, cohortPath), 1+nodes)
	for _, m := range ours {
		require.False(t, c.holds(m))
	}
	remote.giveBack()
}

// leaders are faults that strike a cohort that waits.
var leaders = []plot{
	{name: "leader/node-deleted", outcome: "it queues again, with one node for all that wait behind it",
		play: func(t *testing.T, c *crowd) {
			remote, leader, rest := c.leads(t, 2)
			gone := leader.node(t)
			require.NoError(t, c.operator.Delete(cohortPath+"/"+gone, -1))
			time.Sleep(timeout / 2) // a heartbeat has found out
			require.NotContains(t, c.childrenOf(t, cohortPath), gone)
			c.oneNode(t, remote, append(rest, leader)...)
		}},
	{name: "leader/session-expired", outcome: "all queue in the next session, with one node",
		play: func(t *testing.T, c *crowd) {
			remote, leader, rest := c.leads(t, 2)
			require.NoError(t, c.server.Expire(session(c.ours)))
			c.oneNode(t, remote, append(rest, leader)...)
		}},
	{name: "leader/cut", outcome: "it keeps its node and its place, and the others have one together",
		play: func(t *testing.T, c *crowd) {
			remote, leader, rest := c.leads(t, 2)
			node := leader.node(t)
			c.server.Replica(0).DropClients()
			c.fewNodes(t, 2, remote, append(rest, leader)...)
			c.awaitHolds(t, leader)
			require.Equal(t, node, leader.lease.Node())
		}},
	{name: "leader/given-up", outcome: "the next has its node and its place",
		play: func(t *testing.T, c *crowd) {
			remote, leader, rest := c.leads(t, 2)
			node := leader.node(t)
			leader.givesUp(t)
			synctest.Wait()
			require.Contains(t, c.childrenOf(t, cohortPath), node)
			remote.giveBack()
			c.awaitHolds(t, rest[0])
			require.Equal(t, node, rest[0].lease.Node())
		}},
	{name: "leader/given-up-when-cut", outcome: "its node goes, and the next queues with one of its own",
		play: func(t *testing.T, c *crowd) {
			remote, leader, rest := c.leads(t, 2)
			c.refuse(true)
			c.server.Replica(0).DropClients()
			synctest.Wait()
			leader.givesUp(t)
			c.refuse(false)
			c.oneNode(t, remote, rest...)
		}},
	{name: "waiter/given-up", outcome: "the others go on: it has left nothing",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 3, many)
			m.waiting[1].givesUp(t)
			m.holder.giveBack()
			c.awaitHolds(t, m.waiting[0])
			require.Equal(t, m.node, m.waiting[0].lease.Node())
			m.waiting[0].giveBack()
			c.awaitHolds(t, m.waiting[2])
			require.Equal(t, m.node, m.waiting[2].lease.Node())
			require.Len(t, c.childrenOf(t, cohortPath), 2)
			m.waiting[2].giveBack()
			c.awaitHolds(t, m.remote)
		}},
	{name: "waiter/given-up-as-it-is-granted", outcome: "the lock goes on to the next, or the other session",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 2, many)
			m.waiting[0].ends = givenUp
			m.holder.giveBack()
			m.waiting[0].cancel()
			synctest.Wait()
			if c.holds(m.waiting[0]) { // it was granted before
				m.waiting[0].ends = wellServed
				m.waiting[0].giveBack()
			}
			synctest.Wait()
			if c.holds(m.remote) { // a hold that is given up before its owner has heard of it is not passed on
				m.remote.giveBack()
			}
			c.awaitHolds(t, m.waiting[1])
			m.waiting[1].giveBack()
			c.awaitHolds(t, m.remote)
		}},
	{name: "waiter/given-up-when-cut", outcome: "Lock returns at once, and nothing is left when the connection is back",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 1, many)
			c.refuse(true)
			c.server.Replica(0).DropClients()
			synctest.Wait()
			m.waiting[0].givesUp(t)
			c.refuse(false)
			_, err := m.waiting[0].rec.Await(patient(t), messages.StateCancelled)
			require.NoError(t, err)
			require.Len(t, c.childrenOf(t, cohortPath), 2)
			m.holder.giveBack()
			c.awaitHolds(t, m.remote)
		}},
}

// TestFaultsStrikeWaitingCohorts: requests that wait without a node lose nothing when the request
// does whose node they wait behind.
func TestFaultsStrikeWaitingCohorts(t *testing.T) { testPlots(t, leaders) }
