package matrix

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// describedWithin bounds the time until a node that was passed on names its new owner.
const describedWithin = 1100 * time.Millisecond

// describes are the writes by which a session says it.
var describes = embedded.Fault{Op: embedded.OpSetData, Path: cohortNodes}

// shown is a contender as a client sees it.
func (c *crowd) shown(t *testing.T, client *locks.Client, lockPath, node string) messages.Contender {
	t.Helper()
	queue, err := client.Queue(patient(t), lockPath)
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
func (c *crowd) writes(t *testing.T, lockPath, node string) int32 {
	t.Helper()
	_, stat, err := c.operator.Exists(lockPath + "/" + node)
	require.NoError(t, err)
	return stat.Version
}

// labelled has requests of ours queue in a cohort, each with its number as its label.
func (c *crowd) labelled(t *testing.T, n int, lockPath string) (all []*member) {
	t.Helper()
	for i := range n {
		all = append(all, c.queue(t, c.ours, 1, lockPath, locks.WithCohort(many), locks.WithLabel(fmt.Sprint(i)))...)
	}
	return all
}

// inherits is a cohort of ours that waits behind another session, whose leader has just given up: the next has the node,
// which says that it is the leader's.
func (c *crowd) inherits(t *testing.T, waiting int) (remote *member, node string, rest []*member) {
	t.Helper()
	c.know(t, c.ours, cohortPath)
	remote = c.enter(t, c.theirs, cohortPath)
	c.awaitHolds(t, remote)
	all := c.labelled(t, 1+waiting, cohortPath)
	node = all[0].node(t)
	all[0].givesUp(t)
	synctest.Wait()
	require.Equal(t, "0", c.shown(t, c.theirs, cohortPath, node).Label)
	return remote, node, all[1:]
}

// describesThrough has a fault strike the write, and the lock go its way all the same.
func describesThrough(action embedded.Action) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		f := describes
		f.Action = action
		fault := c.strike(t, f)
		remote, _, rest := c.inherits(t, 3)
		require.NoError(t, fault.Wait(patient(t)))
		time.Sleep(tick)
		if action == embedded.HoldReplies {
			fault.Release()
		}
		eventually(t, func() bool {
			queue, err := c.theirs.Queue(patient(t), cohortPath)
			require.NoError(t, err)
			ours := 0
			for _, contender := range queue {
				if contender.Session == session(c.ours) && contender.Label != "0" {
					ours++
				}
			}
			return ours > 0 && ours == len(queue)-1
		}, "each node says whose it is")
		nodes := 1
		if action == embedded.CutBefore || action == embedded.CutAfter {
			nodes = 2 // the request that has the node keeps it, and the others ask anew
		}
		c.fewNodes(t, nodes, remote, rest...)
		for range rest {
			eventually(t, func() bool {
				for _, m := range rest {
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

// described are scenes of the description in a node.
var described = []plot{
	{name: "waiting", outcome: "a node is written to for nobody who waits; its own session counts those, and no other",
		play: func(t *testing.T, c *crowd) {
			_, leader, rest := c.leads(t, 3)
			node := leader.node(t)
			time.Sleep(time.Minute)
			require.Zero(t, c.writes(t, cohortPath, node))
			shown := c.shown(t, c.theirs, cohortPath, node)
			require.Zero(t, shown.Waiting)
			require.Equal(t, many, shown.Cohort)
			require.False(t, shown.Holds)
			require.Equal(t, 3, c.shown(t, c.ours, cohortPath, node).Waiting)
			rest[2].givesUp(t)
			synctest.Wait()
			require.Equal(t, 2, c.shown(t, c.ours, cohortPath, node).Waiting)
			require.Zero(t, c.writes(t, cohortPath, node))
		}},
	{name: "new-holder", outcome: "the node says who holds with it now, with one write",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, cohortPath)
			all := c.labelled(t, 2, cohortPath)
			c.awaitHolds(t, all[0])
			node := all[0].lease.Node()
			require.Equal(t, "0", c.shown(t, c.theirs, cohortPath, node).Label)
			all[0].giveBack()
			c.awaitHolds(t, all[1])
			require.Equal(t, node, all[1].lease.Node())
			time.Sleep(describedWithin)
			shown := c.shown(t, c.theirs, cohortPath, node)
			require.Equal(t, "1", shown.Label)
			require.Equal(t, all[0].lease.Token(), shown.Token, "the token is that of the first grant")
			time.Sleep(time.Minute)
			require.EqualValues(t, 1, c.writes(t, cohortPath, node))
		}},
	{name: "new-leader", outcome: "the node names the request that got it from one that gave up",
		play: func(t *testing.T, c *crowd) {
			_, node, rest := c.inherits(t, 2)
			time.Sleep(describedWithin)
			require.Equal(t, "1", c.shown(t, c.theirs, cohortPath, node).Label)
			rest[0].givesUp(t)
			time.Sleep(describedWithin)
			require.Equal(t, "2", c.shown(t, c.theirs, cohortPath, node).Label)
			require.EqualValues(t, 2, c.writes(t, cohortPath, node))
		}},
	{name: "many-at-once",
		outcome: "however many nodes are passed on, two writes in a second at most, and each is named in the end",
		play: func(t *testing.T, c *crowd) {
			const locked = 20
			var nodes, paths []string
			for i := range locked {
				paths = append(paths, fmt.Sprintf("/lock-cohort-%d", i))
				all := c.labelled(t, 2, paths[i])
				c.awaitHolds(t, all[0])
				nodes = append(nodes, all[0].lease.Node())
				all[0].giveBack()
				c.awaitHolds(t, all[1])
			}
			written := func() (n int32) {
				for i := range locked {
					n += c.writes(t, paths[i], nodes[i])
				}
				return n
			}
			const seconds = 5
			before := written()
			time.Sleep(seconds * time.Second)
			require.LessOrEqual(t, written()-before, int32(2*seconds+1))
			time.Sleep(locked/2*time.Second + describedWithin)
			require.EqualValues(t, locked, written())
			for i := range locked {
				require.Equal(t, "1", c.shown(t, c.theirs, paths[i], nodes[i]).Label)
			}
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
	{name: "revoke-requested", outcome: "what somebody has written who wants the lock stays",
		play: func(t *testing.T, c *crowd) {
			_, node, _ := c.inherits(t, 2)
			at := cohortPath + "/" + node
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
			_, node, _ := c.inherits(t, 2)
			at := cohortPath + "/" + node
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
			remote, node, rest := c.inherits(t, 2)
			time.Sleep(describedWithin)
			require.Equal(t, "1", c.shown(t, c.theirs, cohortPath, node).Label)
			remote.giveBack()
			c.awaitHolds(t, rest[0])
			remote = c.queue(t, c.theirs, 1, cohortPath)[0]
			asked, err := c.theirs.Revoke(patient(t), cohortPath)
			require.NoError(t, err)
			require.Len(t, asked, 1)
			<-rest[0].lease.Revoked()
			rest[0].giveBack()
			c.awaitHolds(t, remote)
			require.False(t, c.holds(rest[1]))
		}},
	{name: "write/cut-before", outcome: "it is written once more", play: describesThrough(embedded.CutBefore)},
	{name: "write/reply-lost", outcome: "it is written once more", play: describesThrough(embedded.CutAfter)},
	{name: "write/reply-late", outcome: "nobody waits for it", play: describesThrough(embedded.HoldReplies)},
	{name: "write/session-expired",
		outcome: "the node has gone, and the next says it anew", play: describesThrough(embedded.ExpireBefore)},
}

// TestNodesSayWhoHasThem: a node that was passed on names its new owner before long, and that write
// delays nobody.
func TestNodesSayWhoHasThem(t *testing.T) { testPlots(t, described) }
