package matrix

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// delayPath is a lock that another session holds. One of our sessions waits for it.
const delayPath = "/lock-delay"

// after is longer than a create waits for others.
const after = 10 * time.Millisecond

// behindRemote is a lock that another session holds, with one of ours behind it: those of ours that come now form a
// burst.
func (c *crowd) behindRemote(t *testing.T) (holder, waiter *member) {
	t.Helper()
	c.know(t, c.ours, delayPath)
	holder = c.enter(t, c.theirs, delayPath)
	c.awaitHolds(t, holder)
	waiter = c.queue(t, c.ours, 1, delayPath)[0]
	time.Sleep(after)
	synctest.Wait()
	return holder, waiter
}

// burstOfThree is a lock that three of ours hold one after the other; then another session's is next.
func (c *crowd) burstOfThree(t *testing.T) (remote *member, run []*member) {
	t.Helper()
	holder, first := c.behindRemote(t)
	run = append(c.queue(t, c.ours, 2, delayPath), first)
	time.Sleep(after)
	remote = c.queue(t, c.theirs, 1, delayPath)[0]
	holder.giveBack()
	c.awaitHolds(t, first)
	run = []*member{first, run[0], run[1]}
	require.Len(t, c.childrenOf(t, delayPath), 4)
	return remote, run
}

// giveBackInTurn has some give back as soon as they hold.
func (c *crowd) giveBackInTurn(t *testing.T, some []*member) {
	t.Helper()
	for _, m := range some {
		m.giveBack()
		synctest.Wait()
	}
}

// sequences are the numbers of the nodes of members.
func sequences(t *testing.T, all ...*member) (numbers []int32) {
	t.Helper()
	for _, m := range all {
		n, ok := queue.Sequence(m.node(t))
		require.True(t, ok)
		numbers = append(numbers, n)
	}
	return numbers
}

// inARow reports whether nodes stand in a row, whichever of them comes first.
func inARow(t *testing.T, all ...*member) bool {
	t.Helper()
	numbers := sequences(t, all...)
	slices.Sort(numbers)
	return int(numbers[len(numbers)-1]-numbers[0]) == len(numbers)-1
}

// delays are scenes of creates that are delayed for others of their session.
var delays = []plot{
	{name: "others-come", outcome: "a request within a few milliseconds joins the burst, though somebody else came between",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.behindRemote(t)
			first := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			remote := c.enter(t, c.theirs, delayPath)
			synctest.Wait()
			second := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			if fast(t, "group-commit") {
				require.Len(t, c.childrenOf(t, delayPath), 3, "they are delayed")
			}
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 5)
			if fast(t, "group-commit") {
				require.True(t, inARow(t, first, second))
				require.Less(t, sequences(t, remote)[0], sequences(t, first)[0])
			}
			holder.giveBack()
			c.awaitHolds(t, waiter)
		}},
	{name: "burst", outcome: "a request during a burst of its session is next to those that hold in it and come back",
		play: func(t *testing.T, c *crowd) {
			remote, run := c.burstOfThree(t)
			run[0].giveBack()
			<-run[0].done
			back := []*member{c.enter(t, c.ours, delayPath)}
			synctest.Wait()
			if fast(t, "group-commit") {
				require.Len(t, c.childrenOf(t, delayPath), 3, "they are delayed")
			}
			for _, m := range run[1:] {
				m.giveBack()
			}
			synctest.Wait()
			require.True(t, c.holds(remote))
			if fast(t, "group-commit") {
				require.Len(t, c.childrenOf(t, delayPath), 1, "the others are waited for")
			}
			began := time.Now()
			back = append(back, c.enter(t, c.ours, delayPath), c.enter(t, c.ours, delayPath))
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 4)
			require.Zero(t, time.Since(began), "all are there, and it had to wait on")
			if fast(t, "group-commit") {
				require.True(t, inARow(t, back...))
			}
		}},
	{name: "burst-without-return", outcome: "a request in a burst after which nobody else comes back is delayed by a few milliseconds",
		play: func(t *testing.T, c *crowd) {
			_, run := c.burstOfThree(t)
			late := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			for _, m := range run {
				m.giveBack()
			}
			synctest.Wait()
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 2)
			require.NotEmpty(t, late.node(t))
		}},
	{name: "long-burst", outcome: "in a burst that takes long a create goes after a few milliseconds, and those after it at once",
		play: func(t *testing.T, c *crowd) {
			remote, _ := c.burstOfThree(t)
			first := c.enter(t, c.ours, delayPath)
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 5)
			require.Less(t, sequences(t, remote)[0], sequences(t, first)[0])
		}},
	{name: "burst-given-up", outcome: "when all waiters give up nothing is delayed any more",
		play: func(t *testing.T, c *crowd) {
			_, waiter := c.behindRemote(t)
			late := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			began := time.Now()
			waiter.ends = givenUp
			waiter.cancel()
			synctest.Wait()
			require.Zero(t, time.Since(began), "it had to wait on")
			require.Len(t, c.childrenOf(t, delayPath), 2)
			require.NotEmpty(t, late.node(t))
		}},
	{name: "deletes", outcome: "nodes of a burst go together, a millisecond after the first was given back at the latest",
		play: func(t *testing.T, c *crowd) {
			remote, run := c.burstOfThree(t)
			c.giveBackInTurn(t, run[:2])
			require.True(t, c.holds(run[2]))
			if fast(t, "group-commit", "hand-over") {
				require.Len(t, c.childrenOf(t, delayPath), 3, "who has held for long does not wait, the next does for that of the last")
			}
			time.Sleep(after / 5)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 2)
			<-run[0].done
			<-run[1].done
			began := time.Now()
			run[2].giveBack()
			synctest.Wait()
			require.True(t, c.holds(remote))
			require.Zero(t, time.Since(began), "the last waits for nobody")
		}},
	{name: "deletes-cut", outcome: "nodes that were given back when the connection is cut go when it is back",
		play: func(t *testing.T, c *crowd) {
			remote, run := c.burstOfThree(t)
			c.giveBackInTurn(t, run[:2])
			c.server.Replica(0).DropClients()
			eventually(t, func() bool { return len(c.childrenOf(t, delayPath)) == 2 }, "the nodes go")
			run[2].giveBack()
			c.awaitHolds(t, remote)
		}},
	{name: "deletes-expired", outcome: "what waits to be deleted when the session expires is given back, and the holder has lost",
		play: func(t *testing.T, c *crowd) {
			remote, run := c.burstOfThree(t)
			c.giveBackInTurn(t, run[:2])
			require.True(t, c.holds(run[2]))
			run[2].ends = bereft
			c.seen.excuse(run[2]) // a session that is made to expire before its time hears of it late
			require.NoError(t, c.server.Expire(session(c.ours)))
			<-run[0].done
			<-run[1].done
			c.awaitHolds(t, remote)
		}},
	{name: "deletes-of-others", outcome: "a new wait for another session lets what waits to be deleted go",
		play: func(t *testing.T, c *crowd) {
			remote, run := c.burstOfThree(t)
			c.giveBackInTurn(t, run[:2])
			late := c.enter(t, c.ours, delayPath)
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 3)
			<-run[0].done
			<-run[1].done
			require.Less(t, sequences(t, remote)[0], sequences(t, late)[0])
		}},
	{name: "no-other-session", outcome: "where no other session is those of a burst come back together, and nobody who comes in it is delayed",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, delayPath)
			run := c.queue(t, c.ours, 3, delayPath)
			began := time.Now()
			run[0].giveBack()
			synctest.Wait()
			late := c.queue(t, c.ours, 1, delayPath)[0]
			require.NotEmpty(t, late.node(t))
			for _, m := range append(run[1:], late) {
				m.giveBack()
				synctest.Wait()
			}
			require.Empty(t, c.childrenOf(t, delayPath))
			require.Zero(t, time.Since(began), "the last lets all go")
			first := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			if fast(t, "group-commit", "hand-over") {
				require.Empty(t, c.childrenOf(t, delayPath), "the others are waited for")
			}
			time.Sleep(after / 5)
			synctest.Wait()
			require.True(t, c.holds(first), "not for long")
		}},
	{name: "burst-of-one", outcome: "a worker that comes back alone after a burst of one goes at once",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.behindRemote(t)
			c.queue(t, c.theirs, 1, delayPath)
			holder.giveBack()
			c.awaitHolds(t, waiter)
			waiter.giveBack()
			synctest.Wait()
			began := time.Now()
			c.queue(t, c.ours, 1, delayPath)
			require.Zero(t, time.Since(began), "it had to wait")
			require.Len(t, c.childrenOf(t, delayPath), 2)
		}},
	{name: "no-remote-predecessor", outcome: "behind a holder of the own session nobody is made to wait",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, delayPath)
			c.queue(t, c.ours, 3, delayPath)
			require.Len(t, c.childrenOf(t, delayPath), 3)
		}},
	{name: "given-up", outcome: "a request that gives up while its create is delayed never had a node",
		play: func(t *testing.T, c *crowd) {
			c.behindRemote(t)
			gone := c.enter(t, c.ours, delayPath)
			gone.ends = givenUp
			synctest.Wait()
			gone.cancel()
			synctest.Wait()
			require.Len(t, c.childrenOf(t, delayPath), 2)
			time.Sleep(after)
			require.Len(t, c.childrenOf(t, delayPath), 2)
		}},
	{name: "first-gives-up", outcome: "a delayed create goes after a few milliseconds, though the request that came first has given up",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.behindRemote(t)
			first := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			second := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			first.ends = givenUp
			first.cancel()
			time.Sleep(after)
			require.Len(t, c.childrenOf(t, delayPath), 3)
			third := c.enter(t, c.ours, delayPath)
			time.Sleep(after)
			remote := c.queue(t, c.theirs, 1, delayPath)[0]
			require.IsIncreasing(t, sequences(t, second, third, remote))
			holder.giveBack()
			c.awaitHolds(t, waiter)
		}},
	{name: "all-give-up-after-a-cut", outcome: "a request whose create is delayed gives up after a cut, and leaves nothing",
		play: func(t *testing.T, c *crowd) {
			c.behindRemote(t)
			first := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			second := c.enter(t, c.ours, delayPath)
			synctest.Wait()
			first.ends, second.ends = givenUp, givenUp
			first.cancel()
			synctest.Wait()
			c.server.Replica(0).DropClients()
			synctest.Wait()
			second.cancel()
			_, err := second.rec.Await(patient(t), messages.StateCancelled)
			require.NoError(t, err)
		}},
	{name: "cut", outcome: "a create that is delayed when the connection is cut queues when it is back",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.behindRemote(t)
			c.enter(t, c.ours, delayPath)
			synctest.Wait()
			c.server.Replica(0).DropClients()
			eventually(t, func() bool { return len(c.childrenOf(t, delayPath)) == 3 }, "it queues")
			holder.giveBack()
			c.awaitHolds(t, waiter)
		}},
	{name: "expired", outcome: "a create that is delayed when the session expires queues in the next",
		play: func(t *testing.T, c *crowd) {
			holder, _ := c.behindRemote(t)
			c.enter(t, c.ours, delayPath)
			synctest.Wait()
			require.NoError(t, c.server.Expire(session(c.ours)))
			eventually(t, func() bool { return len(c.childrenOf(t, delayPath)) == 3 }, "both queue again")
			holder.giveBack()
		}},
}

func TestCreatesAreDelayed(t *testing.T) { testPlots(t, delays) }
