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

// describedWithin is how long it takes at most until a node says how many wait behind it.
const describedWithin = 1100 * time.Millisecond

// describes are the writes by which a session says it.
var describes = embedded.Fault{Op: embedded.OpSetData, Path: cohortNodes}

// shown is our contender as the other session sees it.
func (c *crowd) shown(t *testing.T, node string) messages.Contender {
	t.Helper()
	queue, err := c.theirs.Queue(patient(t), cohortPath)
	require.NoError(t, err)
	for _, contender := range queue {
		if contender.Node == node {
			return contender
		}
	}
	t.Fatalf("%s is not in the queue", node)
	return messages.Contender{}
}

// writes counts those to a node.
func (c *crowd) writes(t *testing.T, node string) int32 {
	t.Helper()
	_, stat, err := c.operator.Exists(cohortPath + "/" + node)
	require.NoError(t, err)
	return stat.Version
}

// describesThrough has a fault strike the write, and the lock go its way all the same.
func describesThrough(action embedded.Action) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		remote, leader, rest := c.leads(t, 3)
		f := describes
		f.Action = action
		fault := c.strike(t, f)
		require.NoError(t, fault.Wait(patient(t)))
		time.Sleep(tick)
		if action == embedded.HoldReplies {
			fault.Release()
		}
		eventually(t, func() bool {
			queue, err := c.theirs.Queue(patient(t), cohortPath)
			require.NoError(t, err)
			ours := len(queue) - 1
			for _, contender := range queue {
				ours += contender.Waiting
			}
			return ours == 4
		}, "the nodes say how many wait")
		nodes := 1
		if action == embedded.CutBefore || action == embedded.CutAfter {
			nodes = 2 // the leader keeps its own
		}
		c.fewNodes(t, nodes, remote, append(rest, leader)...)
		for range 4 {
			eventually(t, func() bool {
				for _, m := range append(rest, leader) {
					if c.holds(m) && !m.left() {
						m.giveBack()
						return true
					}
				}
				return false
			}, "the next holds")
		}
	}
}

// described are scenes of what a node says.
var described = []plot{
	{name: "counts", outcome: "the node says how many wait behind it, with one write for each change, and none without",
		play: func(t *testing.T, c *crowd) {
			_, leader, rest := c.leads(t, 3)
			node := leader.node(t)
			time.Sleep(describedWithin)
			shown := c.shown(t, node)
			require.Equal(t, 3, shown.Waiting)
			require.Equal(t, many, shown.Cohort)
			require.False(t, shown.Holds)
			require.EqualValues(t, 1, c.writes(t, node))
			time.Sleep(time.Minute)
			require.EqualValues(t, 1, c.writes(t, node))
			rest[2].givesUp(t)
			time.Sleep(describedWithin)
			require.Equal(t, 2, c.shown(t, node).Waiting)
			require.EqualValues(t, 2, c.writes(t, node))
		}},
	{name: "counts-of-many",
		outcome: "however often it changes, two writes in a second at most, for all locks together",
		play: func(t *testing.T, c *crowd) {
			_, leader, _ := c.leads(t, 1)
			const seconds = 10
			for range seconds * 10 {
				c.enter(t, c.ours, cohortPath, locks.WithCohort(many))
				time.Sleep(tick / 10)
			}
			writes := c.writes(t, leader.node(t))
			require.LessOrEqual(t, writes, int32(2*seconds))
			require.Greater(t, writes, int32(seconds/2))
		}},
	{name: "created-with-count", outcome: "a node that is made while others wait says so from the beginning",
		play: func(t *testing.T, c *crowd) {
			m := c.midway(t, 4, 2)
			var node string
			for _, name := range c.childrenOf(t, cohortPath) {
				if name != m.node && name != m.remote.node(t) {
					node = name
				}
			}
			require.Equal(t, 3, c.shown(t, node).Waiting)
			require.Zero(t, c.writes(t, node))
		}},
	{name: "hurried", outcome: "nodes that are gone in a moment are not written to",
		play: func(t *testing.T, c *crowd) {
			met := c.strike(t, describes)
			m := c.begins(t, c.ours, 40, 4)
			for _, now := range append([]*member{m.first, m.holder}, m.waiting[:2]...) {
				c.awaitHolds(t, now)
				time.Sleep(50 * time.Millisecond)
				now.giveBack()
			}
			c.awaitHolds(t, m.remote)
			m.remote.giveBack()
			for _, now := range m.waiting[2:] {
				c.awaitHolds(t, now)
				time.Sleep(50 * time.Millisecond)
				now.giveBack()
			}
			synctest.Wait()
			require.Zero(t, met.Hits())
		}},
	{name: "new-holder", outcome: "the node says who holds with it now",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, cohortPath)
			one := c.queue(t, c.ours, 1, cohortPath, locks.WithCohort(many), locks.WithLabel("one"))[0]
			two := c.queue(t, c.ours, 1, cohortPath, locks.WithCohort(many), locks.WithLabel("two"))[0]
			c.awaitHolds(t, one)
			require.Equal(t, "one", c.shown(t, one.lease.Node()).Label)
			one.giveBack()
			c.awaitHolds(t, two)
			require.Equal(t, one.lease.Node(), two.lease.Node())
			time.Sleep(describedWithin)
			shown := c.shown(t, one.lease.Node())
			require.Equal(t, "two", shown.Label)
			require.Zero(t, shown.Waiting)
			require.Equal(t, one.lease.Token(), shown.Token, "the token is that of the first grant")
		}},
	{name: "revoke-requested", outcome: "what somebody has written who wants the lock stays",
		play: func(t *testing.T, c *crowd) {
			_, leader, _ := c.leads(t, 2)
			at := cohortPath + "/" + leader.node(t)
			_, err := c.operator.Set(at, []byte("unlock"), -1)
			require.NoError(t, err)
			time.Sleep(time.Minute)
			data, stat, err := c.operator.Get(at)
			require.NoError(t, err)
			require.Equal(t, "unlock", string(data))
			require.EqualValues(t, 1, stat.Version)
		}},
	{name: "revoke-requested-as-it-is-read",
		outcome: "the write is refused, and what somebody has written who wants the lock stays",
		play: func(t *testing.T, c *crowd) {
			_, leader, _ := c.leads(t, 2)
			at := cohortPath + "/" + leader.node(t)
			kept := c.strike(t, embedded.Fault{Op: embedded.OpGetData, Path: at, Action: embedded.HoldReplies})
			require.NoError(t, kept.Wait(patient(t)))
			_, err := c.operator.Set(at, []byte("unlock"), -1)
			require.NoError(t, err)
			kept.Release()
			time.Sleep(time.Minute)
			data, stat, err := c.operator.Get(at)
			require.NoError(t, err)
			require.Equal(t, "unlock", string(data))
			require.EqualValues(t, 1, stat.Version)
		}},
	{name: "revoke-requested-when-described",
		outcome: "the holder is asked, and its cohort ends, whatever the node said before",
		play: func(t *testing.T, c *crowd) {
			remote, leader, rest := c.leads(t, 2)
			time.Sleep(describedWithin)
			remote.giveBack()
			c.awaitHolds(t, leader)
			remote = c.queue(t, c.theirs, 1, cohortPath)[0]
			asked, err := c.theirs.Revoke(patient(t), cohortPath)
			require.NoError(t, err)
			require.Len(t, asked, 1)
			<-leader.lease.Revoked()
			leader.giveBack()
			c.awaitHolds(t, remote)
			require.False(t, c.holds(rest[0]))
		}},
	{name: "write/cut-before", outcome: "it is written once more", play: describesThrough(embedded.CutBefore)},
	{name: "write/reply-lost", outcome: "it is written once more", play: describesThrough(embedded.CutAfter)},
	{name: "write/reply-late", outcome: "nobody waits for it", play: describesThrough(embedded.HoldReplies)},
	{name: "write/session-expired",
		outcome: "the node has gone, and the next says it anew", play: describesThrough(embedded.ExpireBefore)},
}

// TestNodesSayHowManyWait: a node says who has it and how many wait behind it, now and then, and in nobody's way.
func TestNodesSayHowManyWait(t *testing.T) { testPlots(t, described) }
