package matrix

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// companyPath is a lock that another session holds, and that one of ours waits for.
const companyPath = "/lock-company"

// after is longer than a create waits for others.
const after = 10 * time.Millisecond

// abroad is a lock that another session holds, with one of ours behind it: those of ours who come now stand in a row.
func (c *crowd) abroad(t *testing.T) (holder, waiter *member) {
	t.Helper()
	c.know(t, c.ours, companyPath)
	holder = c.enter(t, c.theirs, companyPath)
	c.awaitHolds(t, holder)
	waiter = c.queue(t, c.ours, 1, companyPath)[0]
	time.Sleep(after)
	synctest.Wait()
	return holder, waiter
}

// turn is a lock that three of ours hold one after the other; then another session's is next.
func (c *crowd) turn(t *testing.T) (remote *member, turn []*member) {
	t.Helper()
	holder, first := c.abroad(t)
	turn = append(c.queue(t, c.ours, 2, companyPath), first)
	time.Sleep(after)
	remote = c.queue(t, c.theirs, 1, companyPath)[0]
	holder.giveBack()
	c.awaitHolds(t, first)
	turn = []*member{first, turn[0], turn[1]}
	require.Len(t, c.childrenOf(t, companyPath), 4)
	return remote, turn
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

// inARow tells whether nodes stand in a row, whichever of them comes first.
func inARow(t *testing.T, all ...*member) bool {
	t.Helper()
	numbers := sequences(t, all...)
	slices.Sort(numbers)
	return int(numbers[len(numbers)-1]-numbers[0]) == len(numbers)-1
}

// company are scenes of creates that wait for others of their session.
var company = []plot{
	{name: "others-come", outcome: "who comes within a few milliseconds stands in a row, though somebody else came between",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.abroad(t)
			first := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			remote := c.enter(t, c.theirs, companyPath)
			synctest.Wait()
			second := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			if fast(t, actors.GroupCommit, actors.OneRoundTrip) {
				require.Len(t, c.childrenOf(t, companyPath), 3, "they wait for company")
			}
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 5)
			if fast(t, actors.GroupCommit, actors.OneRoundTrip) {
				require.True(t, inARow(t, first, second))
				require.Less(t, sequences(t, remote)[0], sequences(t, first)[0])
			}
			holder.giveBack()
			c.awaitHolds(t, waiter)
		}},
	{name: "turn", outcome: "who comes while its session has its turn stands in a row with those who hold in it and come back",
		play: func(t *testing.T, c *crowd) {
			remote, turn := c.turn(t)
			turn[0].giveBack()
			<-turn[0].done
			back := []*member{c.enter(t, c.ours, companyPath)}
			synctest.Wait()
			if fast(t, actors.GroupCommit, actors.OneRoundTrip) {
				require.Len(t, c.childrenOf(t, companyPath), 3, "they wait for company")
			}
			for _, m := range turn[1:] {
				m.giveBack()
			}
			synctest.Wait()
			require.True(t, c.holds(remote))
			if fast(t, actors.GroupCommit, actors.OneRoundTrip) {
				require.Len(t, c.childrenOf(t, companyPath), 1, "the others are waited for")
			}
			began := time.Now()
			back = append(back, c.enter(t, c.ours, companyPath), c.enter(t, c.ours, companyPath))
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 4)
			require.Zero(t, time.Since(began), "all are there, and it had to wait on")
			if fast(t, actors.GroupCommit, actors.OneRoundTrip) {
				require.True(t, inARow(t, back...))
			}
		}},
	{name: "turn-without-return", outcome: "who comes in a turn after which nobody else comes back waits for a few milliseconds",
		play: func(t *testing.T, c *crowd) {
			_, turn := c.turn(t)
			late := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			for _, m := range turn {
				m.giveBack()
			}
			synctest.Wait()
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 2)
			require.NotEmpty(t, late.node(t))
		}},
	{name: "long-turn", outcome: "in a turn that takes long a create goes after a few milliseconds, and those after it at once",
		play: func(t *testing.T, c *crowd) {
			remote, _ := c.turn(t)
			first := c.enter(t, c.ours, companyPath)
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 5)
			require.Less(t, sequences(t, remote)[0], sequences(t, first)[0])
		}},
	{name: "turn-given-up", outcome: "when all who wait give up nobody waits for more company",
		play: func(t *testing.T, c *crowd) {
			_, waiter := c.abroad(t)
			late := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			began := time.Now()
			waiter.ends = givenUp
			waiter.cancel()
			synctest.Wait()
			require.Zero(t, time.Since(began), "it had to wait on")
			require.Len(t, c.childrenOf(t, companyPath), 2)
			require.NotEmpty(t, late.node(t))
		}},
	{name: "deletes", outcome: "nodes of a turn go together, a millisecond after the first was given back at the latest",
		play: func(t *testing.T, c *crowd) {
			remote, turn := c.turn(t)
			c.giveBackInTurn(t, turn[:2])
			require.True(t, c.holds(turn[2]))
			if fast(t, actors.GroupCommit, actors.OneRoundTrip, actors.HandOver) {
				require.Len(t, c.childrenOf(t, companyPath), 3, "who has held for long does not wait, the next does for that of the last")
			}
			time.Sleep(after / 5)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 2)
			<-turn[0].done
			<-turn[1].done
			began := time.Now()
			turn[2].giveBack()
			synctest.Wait()
			require.True(t, c.holds(remote))
			require.Zero(t, time.Since(began), "the last waits for nobody")
		}},
	{name: "deletes-cut", outcome: "nodes that were given back when the connection is cut go when it is back",
		play: func(t *testing.T, c *crowd) {
			remote, turn := c.turn(t)
			c.giveBackInTurn(t, turn[:2])
			c.server.Replica(0).DropClients()
			eventually(t, func() bool { return len(c.childrenOf(t, companyPath)) == 2 }, "the nodes go")
			turn[2].giveBack()
			c.awaitHolds(t, remote)
		}},
	{name: "deletes-expired", outcome: "what waits to be deleted when the session expires is given back, and who held has lost",
		play: func(t *testing.T, c *crowd) {
			remote, turn := c.turn(t)
			c.giveBackInTurn(t, turn[:2])
			require.True(t, c.holds(turn[2]))
			turn[2].ends = bereft
			c.seen.excuse(turn[2]) // a session that is made to expire before its time hears of it late
			require.NoError(t, c.server.Expire(session(c.ours)))
			<-turn[0].done
			<-turn[1].done
			c.awaitHolds(t, remote)
		}},
	{name: "deletes-of-others", outcome: "a new wait for another session lets what waits to be deleted go",
		play: func(t *testing.T, c *crowd) {
			remote, turn := c.turn(t)
			c.giveBackInTurn(t, turn[:2])
			late := c.enter(t, c.ours, companyPath)
			time.Sleep(after)
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 3)
			<-turn[0].done
			<-turn[1].done
			require.Less(t, sequences(t, remote)[0], sequences(t, late)[0])
		}},
	{name: "at-home", outcome: "where no other session is those who were in a turn together come back together, and who comes in it waits for nobody",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, companyPath)
			turn := c.queue(t, c.ours, 3, companyPath)
			began := time.Now()
			turn[0].giveBack()
			synctest.Wait()
			late := c.queue(t, c.ours, 1, companyPath)[0]
			require.NotEmpty(t, late.node(t))
			for _, m := range append(turn[1:], late) {
				m.giveBack()
				synctest.Wait()
			}
			require.Empty(t, c.childrenOf(t, companyPath))
			require.Zero(t, time.Since(began), "the last lets all go")
			first := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			if fast(t, actors.GroupCommit, actors.OneRoundTrip, actors.HandOver) {
				require.Empty(t, c.childrenOf(t, companyPath), "the others are waited for")
			}
			time.Sleep(after / 5)
			synctest.Wait()
			require.True(t, c.holds(first), "not for long")
		}},
	{name: "alone-in-turn", outcome: "who comes back alone after a turn of one goes at once",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.abroad(t)
			c.queue(t, c.theirs, 1, companyPath)
			holder.giveBack()
			c.awaitHolds(t, waiter)
			waiter.giveBack()
			synctest.Wait()
			began := time.Now()
			c.queue(t, c.ours, 1, companyPath)
			require.Zero(t, time.Since(began), "it had to wait")
			require.Len(t, c.childrenOf(t, companyPath), 2)
		}},
	{name: "nobody-waits-abroad", outcome: "behind a holder of the own session nobody is made to wait",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, companyPath)
			c.queue(t, c.ours, 3, companyPath)
			require.Len(t, c.childrenOf(t, companyPath), 3)
		}},
	{name: "given-up", outcome: "who gives up while it waits for company never had a node",
		play: func(t *testing.T, c *crowd) {
			c.abroad(t)
			gone := c.enter(t, c.ours, companyPath)
			gone.ends = givenUp
			synctest.Wait()
			gone.cancel()
			synctest.Wait()
			require.Len(t, c.childrenOf(t, companyPath), 2)
			time.Sleep(after)
			require.Len(t, c.childrenOf(t, companyPath), 2)
		}},
	{name: "first-gives-up", outcome: "who waits for company goes after a few milliseconds, though the one who came first has given up",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.abroad(t)
			first := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			second := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			first.ends = givenUp
			first.cancel()
			time.Sleep(after)
			require.Len(t, c.childrenOf(t, companyPath), 3)
			third := c.enter(t, c.ours, companyPath)
			time.Sleep(after)
			remote := c.queue(t, c.theirs, 1, companyPath)[0]
			require.IsIncreasing(t, sequences(t, second, third, remote))
			holder.giveBack()
			c.awaitHolds(t, waiter)
		}},
	{name: "all-give-up-after-a-cut", outcome: "who waited for company and gives up after a cut ends, and leaves nothing",
		play: func(t *testing.T, c *crowd) {
			c.abroad(t)
			first := c.enter(t, c.ours, companyPath)
			synctest.Wait()
			second := c.enter(t, c.ours, companyPath)
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
	{name: "cut", outcome: "who waits for company when the connection is cut queues when it is back",
		play: func(t *testing.T, c *crowd) {
			holder, waiter := c.abroad(t)
			c.enter(t, c.ours, companyPath)
			synctest.Wait()
			c.server.Replica(0).DropClients()
			eventually(t, func() bool { return len(c.childrenOf(t, companyPath)) == 3 }, "it queues")
			holder.giveBack()
			c.awaitHolds(t, waiter)
		}},
	{name: "expired", outcome: "who waits for company when the session expires queues in the next",
		play: func(t *testing.T, c *crowd) {
			holder, _ := c.abroad(t)
			c.enter(t, c.ours, companyPath)
			synctest.Wait()
			require.NoError(t, c.server.Expire(session(c.ours)))
			eventually(t, func() bool { return len(c.childrenOf(t, companyPath)) == 3 }, "both queue again")
			holder.giveBack()
		}},
}

func TestCreatesWaitForCompany(t *testing.T) { testPlots(t, company) }
