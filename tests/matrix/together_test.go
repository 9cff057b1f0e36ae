package matrix

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const (
	// pilotPath is the lock whose create is under way while others gather behind it.
	pilotPath = "/pilot"
	// newNodes are the creates of contenders in other lock paths: their names have no number yet.
	newNodes = "/lock*/*-lock-"
)

// somePaths are so many lock paths.
func somePaths(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("/lock-%d", i))
	}
	return all
}

// gather has n requests made, for the lock paths in turn, while our session waits for the answer to the pilot's create. A
// fault is in place by then, because a create that waits for no others is sent at once. When the pilot's is answered, what has
// gathered is sent.
func (c *crowd) gather(t *testing.T, n int, f embedded.Fault, lockPaths ...string) (pilot *member, all []*member, fault, kept *embedded.Injection) {
	t.Helper()
	c.know(t, append(lockPaths, pilotPath)...)
	kept = c.strike(t, embedded.Fault{Path: pilotPath + "/*-lock-", Action: embedded.HoldReplies})
	pilot = c.enter(t, c.ours, pilotPath)
	require.NoError(t, kept.Wait(scene.Deadline(t)))
	synctest.Wait()
	fault = c.strike(t, f)
	for i := range n {
		all = append(all, c.queue(t, c.ours, 1, lockPaths[i%len(lockPaths)])...)
	}
	return pilot, all, fault, kept
}

// struck is eight creates that share a transaction, which meets an action. Another session is behind them.
func struck(action embedded.Action, paths int) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		pilot, all, fault, kept := c.gather(t, 8, embedded.Fault{Path: newNodes, Action: action}, somePaths(paths)...)
		if action == embedded.ExpireBefore { // before its time
			pilot.mayLose = true
			c.excuse(pilot)
		}
		kept.Release()
		require.NoError(t, fault.Wait(scene.Deadline(t)))
		synctest.Wait()
		made := map[int64]bool{}
		for _, lockPath := range somePaths(paths) {
			for _, name := range c.children(t, lockPath) {
				_, stat, err := c.operator.Exists(lockPath + "/" + name)
				require.NoError(t, err)
				made[stat.Czxid] = true
			}
			c.enter(t, c.theirs, lockPath)
		}
		if action == embedded.CutAfter && scene.Fast(t, "group-commit") {
			require.Len(t, made, 1, "they share a transaction")
			for _, m := range all {
				c.awaitHolds(t, m)
				require.True(t, made[m.lease.Token().Zxid()], "it has found its node")
				m.giveBack()
			}
		}
	}
}

// severalUnderWay: three transactions are under way when the last of them meets an action.
func severalUnderWay(action embedded.Action) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		const each = 64 // as many as make another transaction worth sending
		pilot, _, fault, kept := c.gather(t, 2*each, embedded.Fault{Path: newNodes, Skip: 1, Action: action}, somePaths(3)...)
		pilot.mayLose = action == embedded.ExpireBefore
		require.NoError(t, fault.Wait(scene.Deadline(t)))
		kept.Release()
		for _, lockPath := range somePaths(3) {
			c.enter(t, c.theirs, lockPath)
		}
	}
}

// TestFaultsStrikeCreatesTogether: faults that strike creates that share a transaction.
func TestFaultsStrikeCreatesTogether(t *testing.T) {
	const found, again = "unknown: each finds its node by its GUID, and holds once, in the order of the nodes", "each creates again, and holds once"
	testPlots(t, []plot{
		{"one-path/cut-before", again, struck(embedded.CutBefore, 1)},
		{"one-path/reply-lost", found, struck(embedded.CutAfter, 1)},
		{"one-path/session-expired", again, struck(embedded.ExpireBefore, 1)},
		{"many-paths/cut-before", again, struck(embedded.CutBefore, 8)},
		{"many-paths/reply-lost", found, struck(embedded.CutAfter, 8)},
		{"many-paths/session-expired", again, struck(embedded.ExpireBefore, 8)},
		{"several/cut-before", again, severalUnderWay(embedded.CutBefore)},
		{"several/reply-lost", found, severalUnderWay(embedded.CutAfter)},
		{"several/session-expired", again, severalUnderWay(embedded.ExpireBefore)},
		{"one-part/not-permitted", "nothing is done for the sake of one; asked for one by one, that one fails and the others hold",
			func(t *testing.T, c *crowd) {
				paths := somePaths(4)
				c.know(t, paths...)
				_, err := c.operator.SetACL(paths[1], zk.WorldACL(zk.PermAll&^zk.PermCreate), -1)
				require.NoError(t, err)
				_, all, _, kept := c.gather(t, 8, embedded.Fault{Path: "/nothing"}, paths[0], pilotPath+"-2", paths[2])
				denied := c.enter(t, c.ours, paths[1])
				denied.ends = zkconn.ErrNoAuth
				synctest.Wait()
				kept.Release()
				synctest.Wait()
				require.NotEmpty(t, all[0].node(t))
			}},
		{"caller-gone/reply-lost", "its node is looked for and deleted; the others hold in their order",
			func(t *testing.T, c *crowd) {
				_, all, fault, kept := c.gather(t, 8, embedded.Fault{Path: newNodes, Action: embedded.HoldReplies}, somePaths(2)...)
				kept.Release()
				require.NoError(t, fault.Wait(scene.Deadline(t)))
				for _, i := range []int{0, 3, 6} {
					all[i].cancel()
					all[i].ends = context.Canceled
				}
				synctest.Wait()
				c.server.Replica(0).DropClients()
				fault.Release()
			}},
	})
}

// delayPath is a lock that another session holds.
const delayPath = "/lock-delay"

// TestCreatesAreDelayed: a lock is held by another session, and one of ours waits. Creates of ours that come now wait for
// others, and go together.
func TestCreatesAreDelayed(t *testing.T) {
	const after = 10 * time.Millisecond // is longer than a create waits
	testPlots(t, []plot{{"others-come", "a request within a few milliseconds is next to the one before of its session, though somebody else came between",
		func(t *testing.T, c *crowd) {
			c.know(t, delayPath)
			holder := c.enter(t, c.theirs, delayPath)
			c.awaitHolds(t, holder)
			waiter := c.queue(t, c.ours, 1, delayPath)[0]
			time.Sleep(after)
			first := c.queue(t, c.ours, 1, delayPath)[0]
			remote := c.queue(t, c.theirs, 1, delayPath)[0]
			second := c.queue(t, c.ours, 1, delayPath)[0]
			delays := scene.Fast(t, "group-commit")
			if delays {
				require.Len(t, c.children(t, delayPath), 3, "they are delayed")
			}
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.children(t, delayPath), 5)
			if delays {
				require.Less(t, number(t, remote), min(number(t, first), number(t, second)))
				require.Equal(t, int32(1), max(number(t, first)-number(t, second), number(t, second)-number(t, first)))
			}
			c.inOrder(t, holder, waiter)
		}}})
}
