package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// cohortPath is the lock whose node is passed on; cohortNodes are the contenders' nodes.
const (
	cohortPath  = "/lock-cohort"
	cohortNodes = cohortPath + "/*"
)

// many is the bound on the grants of a cohort that is not to end by their number.
const many = 100

// midCohort is a lock in the middle of a cohort of ours: the first has passed the node on, the holder has it, some wait
// without a node, and somebody of another session is behind all of them.
type midCohort struct {
	*crowd
	node          string
	first, holder *member
	waiting       []*member
	remote        *member
	// cut: the connection is lost when one of the waiters has a node already, or has asked for it.
	// The others make another when it is back.
	cut bool
}

// begins has the first of a cohort hold, with so many behind it, and behind them somebody of another session.
func (c *crowd) begins(t *testing.T, client *locks.Client, waiting, grants int) *midCohort {
	t.Helper()
	c.know(t, client, cohortPath)
	all := c.queue(t, client, 2+waiting, cohortPath, locks.WithCohort(grants))
	c.awaitHolds(t, all[0])
	m := &midCohort{crowd: c, node: all[0].lease.Node(), first: all[0], holder: all[1], waiting: all[2:]}
	require.Equal(t, []string{m.node}, c.childrenOf(t, cohortPath), "those that wait have no nodes")
	m.remote = c.queue(t, c.theirs, 1, cohortPath)[0]
	return m
}

// passes has the first pass its node on.
func (m *midCohort) passes(t *testing.T) {
	t.Helper()
	m.first.giveBack()
	m.awaitHolds(t, m.holder)
	<-m.first.done
	require.Equal(t, m.node, m.holder.lease.Node())
	require.Equal(t, m.first.lease.Token()+1, m.holder.lease.Token())
	synctest.Wait()
}

// midway is a cohort of ours in which the second holds.
func (c *crowd) midway(t *testing.T, waiting, grants int) *midCohort {
	t.Helper()
	m := c.begins(t, c.ours, waiting, grants)
	m.passes(t)
	return m
}

// notYet: no waiter of the cohort holds.
func (m *midCohort) notYet(t *testing.T) {
	t.Helper()
	synctest.Wait()
	for _, w := range m.waiting {
		require.False(t, m.holds(w), "one that waits in the cohort holds before its turn")
	}
}

// othersTurn: the other session has its turn, and the waiters have theirs behind it, with one new
// node, or two.
func (m *midCohort) othersTurn(t *testing.T) {
	t.Helper()
	m.awaitHolds(t, m.remote)
	m.notYet(t)
	nodes := 2
	if m.cut {
		nodes = 3
	}
	eventually(t, func() bool { return len(m.childrenOf(t, cohortPath)) == nodes }, "those that waited have nodes")
	require.NotContains(t, m.childrenOf(t, cohortPath), m.node)
	m.remote.giveBack()
	for range m.waiting {
		m.next(t)
	}
}

// next waits until any of the waiters holds, and has it give back.
func (m *midCohort) next(t *testing.T) {
	t.Helper()
	var now *member
	eventually(t, func() bool {
		for _, w := range m.waiting {
			if m.holds(w) && !w.left() {
				now = w
			}
		}
		return now != nil
	}, "one of those that wait holds")
	require.NotEqual(t, m.node, now.lease.Node())
	require.Greater(t, now.lease.Token(), m.remote.lease.Token())
	now.giveBack()
	<-now.done
}

// left reports whether a member was told to give back.
func (m *member) left() bool {
	select {
	case <-m.leave:
		return true
	default:
		return false
	}
}

// loses has the holder lose the lock, by something that the servers know before it does.
func (m *midCohort) loses(t *testing.T) {
	t.Helper()
	m.holder.ends = bereft
	m.seen.excuse(m.holder)
}

// outlive waits until a lease is over that nothing prolongs any more.
func outlive(lease *locks.Lease) {
	synctest.Wait() // what the servers have answered before has been heard
	for left := time.Until(lease.Deadline()); left > 0; left = time.Until(lease.Deadline()) {
		time.Sleep(left)
	}
}

// cohorts are faults that strike in the middle of one.
var cohorts = []plot{
	{name: "holder/session-expired",
		outcome: "Lost; the other session holds next, and those that waited behind it, with one node of the next session",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 3, many)
			m.loses(t)
			require.NoError(t, c.server.Expire(session(c.ours)))
			awaitEnd(t, m.holder.lease)
			m.othersTurn(t)
		}},
	{name: "holder/node-deleted",
		outcome: "Lost; the other session holds next, and those that waited behind it, with one new node",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 3, many)
			m.loses(t)
			c.dismiss(t, m.holder)
			awaitEnd(t, m.holder.lease)
			m.othersTurn(t)
		}},
	{name: "holder/node-deleted-as-it-is-passed-on",
		outcome: "the next has lost, or never held: nobody holds beside the other session",
		play: func(t *testing.T, c *crowd) {
			m := c.begins(t, c.ours, 2, many)
			kept := c.strike(t, embedded.Fault{Op: embedded.OpGetData, Path: cohortNodes, Action: embedded.HoldReplies})
			m.passes(t)
			require.NoError(t, kept.Wait(patient(t)))
			m.loses(t)
			c.dismiss(t, m.holder)
			kept.Release()
			awaitEnd(t, m.holder.lease)
			m.othersTurn(t)
		}},
	{name: "holder/revoked",
		outcome: "it is asked, and holds on; its cohort ends with it, and the other session holds next",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 2, many)
			asked, err := c.theirs.Revoke(patient(t), cohortPath)
			require.NoError(t, err)
			require.Len(t, asked, 1)
			require.Equal(t, m.node, asked[0].Node)
			<-m.holder.lease.Revoked()
			require.True(t, m.holder.lease.Valid())
			require.False(t, c.holds(m.remote))
			m.notYet(t)
			m.holder.giveBack()
			m.othersTurn(t)
		}},
	{name: "holder/cut", outcome: "it holds on; those that waited ask again, and the other session holds next",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 3, many)
			c.server.Replica(0).DropClients()
			time.Sleep(tick)
			require.True(t, m.holder.lease.Valid())
			require.False(t, c.holds(m.remote))
			m.notYet(t)
			m.holder.giveBack()
			m.othersTurn(t)
		}},
	{name: "served-long-enough",
		outcome: "after a twentieth of the session timeout the next leads, and the other session holds before it",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 2, many)
			time.Sleep(timeout/20 + time.Millisecond)
			require.Len(t, c.childrenOf(t, cohortPath), 3)
			m.notYet(t)
			m.holder.giveBack()
			m.othersTurn(t)
		}},
	{name: "over-and-over",
		outcome: "two grants of ours, one of the other session, two of ours, one: each with a greater token",
		play: func(t *testing.T, c *crowd) {
			m := c.begins(t, c.ours, 3, 2)
			order := []*member{m.first, m.holder, m.remote, m.waiting[0], m.waiting[1], m.waiting[2]}
			nodes := map[string]int{}
			for i, now := range order {
				c.awaitHolds(t, now)
				for _, later := range order[i+1:] {
					require.False(t, c.holds(later))
				}
				nodes[now.lease.Node()]++
				if i > 0 {
					require.Greater(t, now.lease.Token(), order[i-1].lease.Token())
				}
				now.giveBack()
				<-now.done
			}
			require.Len(t, nodes, 4)
			require.Equal(t, m.waiting[0].lease.Token()+1, m.waiting[1].lease.Token())
		}},
	{name: "lease-runs-out-as-it-is-granted",
		outcome: "the grant is Lost at once, before the other session holds",
		play: func(t *testing.T, c *crowd) {
			slow := c.newBrake(stHeld)
			slow.armed.Store(false)
			client := c.joinClient(t)
			time.Sleep(timeout) // the lease is no longer a new connection's
			m := c.begins(t, client, 2, many)
			id := session(client)
			slow.armed.Store(true)
			m.first.giveBack()
			<-slow.stopped // the next is about to say that it holds
			kept := c.strike(t, embedded.Fault{Session: id, Action: embedded.HoldReplies})
			require.NoError(t, kept.Wait(patient(t)))
			c.refuse(true) // or else it connects anew while the lease lasts
			outlive(m.first.lease)
			require.False(t, c.holds(m.remote))
			close(slow.goOn) // and asks for its node to be deleted, when it has lost it
			synctest.Wait()
			m.holder.ends = bereft
			require.False(t, m.holder.validly(c))
			c.silence(t, id, kept)
			m.othersTurn(t)
		}},
	{name: "given-back-when-the-lease-is-over", outcome: "Lost, and not passed on",
		play: func(t *testing.T, c *crowd) {
			time.Sleep(timeout) // the lease is no longer a new connection's
			m := c.midway(t, 2, many)
			id := session(c.ours)
			kept := c.strike(t, embedded.Fault{Action: embedded.HoldReplies})
			require.NoError(t, kept.Wait(patient(t)))
			c.refuse(true)
			outlive(m.holder.lease)
			m.holder.ends = bereft
			m.holder.giveBack()
			m.notYet(t)
			c.silence(t, id, kept)
			m.othersTurn(t)
		}},
}

// TestFaultsStrikeCohorts: under every fault in the middle of a cohort, one holds at a time, the
// other session has its turn, and the requests that waited without a node have theirs behind it.
func TestFaultsStrikeCohorts(t *testing.T) { testPlots(t, cohorts) }
