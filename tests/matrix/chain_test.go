package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// chainPath is the lock of a chain.
const chainPath = "/lock-chain"

// chain is three requests of one session, one behind the other, and one of another session behind them. The first
// gives back, and the second holds while the first's delete is still under way.
type chain struct {
	*crowd
	first, second, last, remote *member
}

// chains gives a chain a story.
func chains(tell func(t *testing.T, ch *chain)) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		c.know(t, chainPath)
		all := append(c.queue(t, c.ours, 3, chainPath), c.queue(t, c.theirs, 1, chainPath)...)
		c.awaitHolds(t, all[0])
		tell(t, &chain{c, all[0], all[1], all[2], all[3]})
	}
}

// pass has the first give back. Its delete meets an action; it is a transaction, because it needs the node of the next
// request. Where hand-overs are made the second holds before anything is heard of the delete.
func (ch *chain) pass(t *testing.T, action embedded.Action) *embedded.Injection {
	t.Helper()
	f := ch.strike(t, embedded.Fault{Op: embedded.OpMulti, Path: chainPath + "/*-lock-??????????", Action: action})
	if action == embedded.ExpireBefore { // before its time, which no client can know: it is the remote one's turn
		ch.excuse(ch.second)
	}
	ch.first.giveBack()
	require.NoError(t, f.Wait(scene.Deadline(t)))
	synctest.Wait()
	if action != embedded.ExpireBefore {
		require.True(t, ch.holds(ch.second) || !scene.Fast(t, "hand-over"), "the second holds before the first's node is known to be gone")
		require.False(t, ch.holds(ch.remote), "the remote one holds before the last of the chain")
	}
	return f
}

// lostSecond is the outcome of a chain whose session ends: the second has lost, unless it had nothing to lose yet, and the last
// queues behind the remote one.
func (ch *chain) lostSecond(t *testing.T) {
	t.Helper()
	if scene.Fast(t, "hand-over") {
		ch.loses(ch.second)
	}
	ch.awaitHolds(t, ch.remote)
}

// TestFaultsStrikeHandingOver: faults that strike while a lock is handed on within a session.
func TestFaultsStrikeHandingOver(t *testing.T) {
	outlives := func(action embedded.Action) func(*testing.T, *crowd) {
		return chains(func(t *testing.T, ch *chain) {
			ch.pass(t, action)
			ch.inOrder(t, ch.second, ch.last, ch.remote)
		})
	}
	testPlots(t, []plot{
		{"delete/cut-before", "not applied: the second holds on, the delete is tried again, and the remote one waits for the last",
			outlives(embedded.CutBefore)},
		{"delete/reply-lost", "unknown: the second holds on, and the remote one waits for the last", outlives(embedded.CutAfter)},
		{"delete/session-expired", "the second has lost with its session, the last queues behind the remote one",
			chains(func(t *testing.T, ch *chain) {
				ch.pass(t, embedded.ExpireBefore)
				ch.lostSecond(t)
			})},
		{"delete/not-permitted", "the first's Unlock tells; the session is ended for its node, and the second has lost",
			chains(func(t *testing.T, ch *chain) {
				ch.forbid(t, chainPath, zk.PermAll&^zk.PermDelete)
				ch.first.ends = zkconn.ErrNoAuth
				of := session(ch.ours)
				ch.first.giveBack()
				ch.awaitExpiry(t, of)
				ch.allow(t, chainPath)
				ch.lostSecond(t)
			})},
		{"second-node-deleted", "the second is told that it has lost, as the operator meant it; the last is next, and the remote one waits for it",
			chains(func(t *testing.T, ch *chain) {
				kept := ch.pass(t, embedded.HoldReplies)
				ch.excuse(ch.second)
				ch.deleteNode(t, ch.second)
				ch.second.mayLose = true
				kept.Release()
				if scene.Fast(t, "hand-over") {
					ch.loses(ch.second)
					scene.AwaitLost(t, ch.second.lease)
				}
				ch.inOrder(t, ch.last, ch.remote)
			})},
		{"last-node-deleted", "the second's node stays until the last has been told: the remote one is let in after that, and the last queues behind it",
			chains(func(t *testing.T, ch *chain) {
				kept := ch.pass(t, embedded.HoldReplies)
				ch.deleteNode(t, ch.last)
				kept.Release()
				ch.last.mayLose = true // handed the lock, and told at once that it has lost it
				ch.inOrder(t, ch.second, ch.remote)
			})},
	})
}

// TestPausedBetweenHandingOverAndHolding: the request that is handed the lock stands still when it
// is about to hold, and its session goes on, and ends. When the request goes on it has lost the
// lock, and the remote one holds. Nobody was granted the lost hold, so the call asks anew.
func TestPausedBetweenHandingOverAndHolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		brake := c.newBrake(stHeld)
		brake.armed.Store(false)
		c.ours = c.open(t)
		chains(func(t *testing.T, ch *chain) {
			kept := ch.strike(t, embedded.Fault{Op: embedded.OpMulti, Path: chainPath + "/*-lock-??????????", Action: embedded.HoldReplies})
			of := session(c.ours)
			brake.armed.Store(true)
			ch.first.giveBack()
			<-brake.stopped
			c.refuse(true)
			c.server.Replica(0).DropClients()
			c.awaitExpiry(t, of)
			time.Sleep(timeout)
			c.refuse(false)
			c.awaitHolds(t, ch.remote)
			close(brake.goOn)
			kept.Release()
		})(t, c)
		c.conclude(t)
	})
}
