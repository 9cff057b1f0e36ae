package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// chainPath is the lock of a chain, and nodesOfChain the nodes of its contenders.
const (
	chainPath    = "/lock-chain"
	nodesOfChain = chainPath + "/*-lock-??????????"
)

// passing strikes the delete of the request that has given back. That is a transaction, because it
// needs the node of the next request.
func passing(action embedded.Action) embedded.Fault {
	return embedded.Fault{Op: embedded.OpMulti, Path: nodesOfChain, Action: action}
}

// chain is three requests of one session, one behind the other, and one of another session behind them. The first
// gives back, and the second holds while the first's delete is still under way.
type chain struct {
	*crowd
	session             int64
	first, second, last *member
	remote              *member
}

func (c *crowd) chain(t *testing.T) *chain {
	t.Helper()
	c.know(t, c.ours, chainPath)
	ch := &chain{crowd: c, session: session(c.ours)}
	all := c.queue(t, c.ours, 3, chainPath)
	ch.first, ch.second, ch.last = all[0], all[1], all[2]
	ch.remote = c.enter(t, c.theirs, chainPath)
	synctest.Wait()
	c.awaitHolds(t, ch.first)
	return ch
}

// pass has the first give back, and its delete meet an action. Where hand-overs are made the second holds before
// anything is heard of the delete.
func (ch *chain) pass(t *testing.T, action embedded.Action) *embedded.Injection {
	t.Helper()
	f := ch.strike(t, passing(action))
	if action == embedded.ExpireBefore { // before its time, which no client can know: it is the remote one's turn
		ch.seen.excuse(ch.second)
	}
	ch.first.giveBack()
	require.NoError(t, f.Wait(patient(t)))
	synctest.Wait()
	if action != embedded.ExpireBefore {
		ch.handedOver(t)
	}
	return f
}

// handedOver: the second holds, where hand-overs are made, and the remote one does not.
func (ch *chain) handedOver(t *testing.T) {
	t.Helper()
	if fast(t, "hand-over") {
		require.True(t, ch.holds(ch.second), "the second holds before the first's node is known to be gone")
	}
	require.False(t, ch.holds(ch.remote), "the remote one holds before the last of the chain")
}

// wind has the chain go on to its end: each gives back when it holds, and the remote one waits for the last.
func (ch *chain) wind(t *testing.T, rest ...*member) {
	t.Helper()
	for _, m := range rest {
		ch.awaitHolds(t, m)
		require.False(t, ch.holds(ch.remote), "the remote one holds before the last of the chain")
		m.giveBack()
	}
	ch.awaitHolds(t, ch.remote)
}

// silence has nobody of a session let in, or told anything, until the servers have ended it.
func (c *crowd) silence(t *testing.T, of int64, kept *embedded.Injection) {
	t.Helper()
	c.refuse(true)
	c.awaitExpiry(t, of)
	c.refuse(false)
	kept.Release()
}

// lostSecond is the outcome of a chain whose session ends: the second has lost, and the last queues behind the
// remote one.
func (ch *chain) lostSecond(t *testing.T) {
	t.Helper()
	ch.second.ends = bereft
	if !fast(t, "hand-over") {
		ch.second.ends = wellServed // it had nothing to lose yet, and queues again
	}
	ch.awaitHolds(t, ch.remote)
}

// chains are faults that strike while a lock is handed on within a session.
var chains = []plot{
	{name: "delete/cut-before", outcome: "not applied: the second holds on, the delete is tried again, and the remote one waits for the last",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			ch.pass(t, embedded.CutBefore)
			ch.wind(t, ch.second, ch.last)
		}},
	{name: "delete/reply-lost", outcome: "unknown: the second holds on, and the remote one waits for the last",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			ch.pass(t, embedded.CutAfter)
			ch.wind(t, ch.second, ch.last)
		}},
	{name: "delete/session-expired", outcome: "the second has lost with its session, the last queues behind the remote one",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			ch.pass(t, embedded.ExpireBefore)
			ch.lostSecond(t)
		}},
	{name: "delete/reply-late", outcome: "by the clock, the second has lost before the servers let the remote one in",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			c.silence(t, ch.session, ch.pass(t, embedded.HoldReplies))
			ch.lostSecond(t)
		}},
	{name: "delete/server-restarted", outcome: "unknown, and waits for the server: the second holds on",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			ch.pass(t, embedded.HoldReplies)
			c.server.Replica(0).Stop()
			time.Sleep(tick)
			require.NoError(t, c.server.Replica(0).Start())
			ch.wind(t, ch.second, ch.last)
		}},
	{name: "delete/not-permitted", outcome: "the first's Unlock tells; the session is ended for its node, and the second has lost",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			_, err := c.operator.SetACL(chainPath, zk.WorldACL(zk.PermAll&^zk.PermDelete), -1)
			require.NoError(t, err)
			ch.first.ends = stuck
			ch.first.giveBack()
			c.awaitExpiry(t, ch.session)
			_, err = c.operator.SetACL(chainPath, zk.WorldACL(zk.PermAll), -1)
			require.NoError(t, err)
			ch.lostSecond(t)
		}},
	{name: "first-node-deleted", outcome: "that the node that was to go is gone is success",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			f := ch.strike(t, passing(embedded.CutBefore))
			node := ch.first.node(t)
			c.refuse(true)
			ch.first.giveBack()
			require.NoError(t, f.Wait(patient(t)))
			require.NoError(t, c.operator.Delete(chainPath+"/"+node, -1))
			c.refuse(false)
			synctest.Wait()
			ch.wind(t, ch.second, ch.last)
		}},
	{name: "second-node-deleted", outcome: "the second is told that it has lost, as the operator meant it; the last is next, and the remote one waits for it",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			kept := ch.pass(t, embedded.HoldReplies)
			c.dismiss(t, ch.second)
			ch.second.ends = either
			kept.Release()
			if fast(t, "hand-over") {
				ch.second.ends = bereft
				awaitEnd(t, ch.second.lease)
			}
			ch.wind(t, ch.last)
		}},
	{name: "second-node-deleted-and-delete-lost", outcome: "while the first's node is there nobody else holds; then it is the last's turn",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			f := ch.strike(t, passing(embedded.CutBefore))
			node := ch.second.node(t)
			c.refuse(true)
			ch.first.giveBack()
			require.NoError(t, f.Wait(patient(t)))
			synctest.Wait()
			c.seen.excuse(ch.second)
			ch.second.ends = either
			require.NoError(t, c.operator.Delete(chainPath+"/"+node, -1))
			c.refuse(false)
			if fast(t, "hand-over") {
				awaitEnd(t, ch.second.lease)
			}
			ch.wind(t, ch.last)
		}},
	{name: "second-gives-back-at-once", outcome: "the last holds while two deletes are under way, and the remote one waits for it",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			kept := ch.pass(t, embedded.HoldReplies)
			ch.second.giveBack()
			synctest.Wait()
			if fast(t, "hand-over") {
				require.True(t, c.holds(ch.last), "handed over twice")
			}
			require.False(t, c.holds(ch.remote))
			kept.Release()
			ch.wind(t, ch.last)
		}},
	{name: "two-deletes/cut-before", outcome: "the last holds while the nodes of two before it are still there, and both go",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			f := ch.strike(t, passing(embedded.CutBefore))
			c.refuse(true)
			ch.first.giveBack()
			ch.second.giveBack()
			require.NoError(t, f.Wait(patient(t)))
			synctest.Wait()
			require.Len(t, c.childrenOf(t, chainPath), 4)
			c.refuse(false)
			ch.wind(t, ch.last)
		}},
	{name: "two-deletes/session-expired", outcome: "all nodes go with the session: the last has lost, and the remote one holds",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			ch.second.giveBack()
			kept := ch.pass(t, embedded.HoldReplies)
			synctest.Wait()
			if fast(t, "hand-over") {
				require.True(t, c.holds(ch.last))
				ch.last.ends = bereft
			}
			c.silence(t, ch.session, kept)
			c.awaitHolds(t, ch.remote)
		}},
	{name: "second-gives-up", outcome: "the caller is gone before it is handed the lock: the last holds when both nodes are gone",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			f := ch.strike(t, embedded.Fault{Op: embedded.OpDelete, Path: nodesOfChain, Action: embedded.HoldReplies})
			ch.second.ends = givenUp
			ch.second.cancel()
			require.NoError(t, f.Wait(patient(t)))
			synctest.Wait()
			ch.first.giveBack()
			synctest.Wait()
			require.False(t, c.holds(ch.remote))
			f.Release()
			ch.wind(t, ch.last)
		}},
	{name: "second-gives-up/reply-lost", outcome: "its delete is tried again: the last holds when it is known to be gone",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			f := ch.strike(t, embedded.Fault{Path: nodesOfChain, Action: embedded.CutAfter})
			ch.second.ends = givenUp
			ch.second.cancel()
			require.NoError(t, f.Wait(patient(t))) // or else the first may hand it the lock before it is gone
			ch.first.giveBack()
			ch.wind(t, ch.last)
		}},
	{name: "second-is-revoked", outcome: "it is asked for the lock while the first's delete is under way, and hands it on",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			kept := ch.pass(t, embedded.HoldReplies)
			_, err := c.operator.Set(chainPath+"/"+ch.second.node(t), []byte("unlock"), -1)
			require.NoError(t, err)
			kept.Release()
			c.awaitHolds(t, ch.second)
			select {
			case <-ch.second.lease.Revoked():
			case <-patient(t).Done():
				t.Fatal("it never heard that the lock is wanted")
			}
			ch.wind(t, ch.second, ch.last)
		}},
	{name: "last-node-deleted", outcome: "the second's node stays until the last has been told: the remote one is let in after that, and the last queues behind it",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			kept := ch.pass(t, embedded.HoldReplies)
			require.NoError(t, c.operator.Delete(chainPath+"/"+ch.last.node(t), -1))
			kept.Release()
			ch.last.ends = either // handed the lock, and told at once that it has lost it
			c.awaitHolds(t, ch.second)
			require.False(t, c.holds(ch.remote))
			ch.second.giveBack()
			c.awaitHolds(t, ch.remote)
		}},
	{name: "last-node-deleted-and-delete-lost", outcome: "the same when the delete that looks for the node is cut off, and asked for again",
		play: func(t *testing.T, c *crowd) {
			ch := c.chain(t)
			kept := ch.pass(t, embedded.HoldReplies)
			require.NoError(t, c.operator.Delete(chainPath+"/"+ch.last.node(t), -1))
			kept.Release()
			ch.last.ends = either
			c.awaitHolds(t, ch.second)
			f := ch.strike(t, passing(embedded.CutBefore))
			ch.second.giveBack()
			require.NoError(t, f.Wait(patient(t)))
			c.awaitHolds(t, ch.remote)
		}},
}

func TestFaultsStrikeHandingOver(t *testing.T) { testPlots(t, chains) }

// TestPausedBetweenHandingOverAndHolding: the request that is handed the lock stands still when it
// is about to hold, and its session goes on, and ends. When the request goes on it has lost the
// lock, and the remote one holds. Nobody was granted the lost hold, so the call asks anew.
func TestPausedBetweenHandingOverAndHolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t)
		brake := c.newBrake(stHeld)
		brake.armed.Store(false)
		c.ours = c.joinClient(t)
		ch := c.chain(t)
		kept := ch.strike(t, passing(embedded.HoldReplies))
		brake.armed.Store(true)
		ch.first.giveBack()
		<-brake.stopped
		c.refuse(true)
		c.server.Replica(0).DropClients()
		c.awaitExpiry(t, ch.session)
		time.Sleep(timeout)
		c.refuse(false)
		c.awaitHolds(t, ch.remote)
		close(brake.goOn)
		kept.Release()
		c.conclude(t)
	})
}
