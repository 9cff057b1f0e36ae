package tests

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// inCohort has a request share the node of its session.
func inCohort(want *messages.Acquire) { want.Cohort = 64 }

// deadlocks looks for deadlocks in the session of a stage, and gives the members of each, in words and in order. Which
// of them is the oldest depends on whether its cohort has ended meanwhile, and it has a node.
func (s *stage) deadlocks(t *testing.T, root string) (all [][]string) {
	t.Helper()
	answer, err := s.session.Ask(deadline(t), &messages.FindDeadlocks{Root: root})
	require.NoError(t, err)
	for _, d := range answer.(*messages.DeadlocksFound).Deadlocks {
		members := strings.Split(d.String(), "; ")
		slices.Sort(members)
		all = append(all, members)
	}
	return all
}

// TestDeadlockInsideCohorts: two owners of one process who wait for each other, each without a node behind the other's,
// are found on demand, and the one that asked last gives up; the other gets its lock.
func TestDeadlockInsideCohorts(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, at *servers) {
		client := open(t, at.Connect())
		detect, cohort := locks.WithDeadlockDetection("/inside", often), locks.WithCohort(64)
		x, err := client.Mutex("/inside/x", cohort).Lock(deadline(t))
		require.NoError(t, err)
		y, err := client.Mutex("/inside/y", cohort).Lock(deadline(t))
		require.NoError(t, err)
		older := lockWithin(t, client, x, "/inside/y", cohort)
		require.Empty(t, deadlocks(t, client, "/inside"), "y is given back by somebody who goes on")
		younger := elsewhere(y.Context(), client.Mutex("/inside/x", cohort, detect).Lock)

		a := receive(t, younger)
		require.ErrorIs(t, a.err, locks.ErrDeadlock)
		var deadlock *locks.DeadlockError
		require.ErrorAs(t, a.err, &deadlock)
		require.Len(t, deadlock.Deadlock.Members, 2)
		require.Contains(t, a.err.Error(), "holds /inside/x and waits for /inside/y")
		require.Contains(t, a.err.Error(), "holds /inside/y and waits for /inside/x")
		select {
		case a := <-older:
			t.Fatalf("the older one ended as well: %v", a.err)
		default:
		}
		giveBack(t, y)
		a = receive(t, older)
		require.NoError(t, a.err)
		giveBack(t, a.lease, x)
		awaitNone(t, at, "/inside/x")
		awaitNone(t, at, "/inside/y")
	})
}

// holder gives who holds a lock, as its node says.
func (s *stage) holder(t *testing.T, path string) string {
	t.Helper()
	answer, err := s.session.Ask(deadline(t), &messages.ReadQueue{Path: path})
	require.NoError(t, err)
	for _, c := range answer.(*messages.Queue).Contenders {
		if c.Holds {
			return c.Caller
		}
	}
	return ""
}

// TestDeadlocksOfCohortsAreFound: by whoever asks the session that has the cohorts. Who holds with a node that was
// passed on counts, and not who has made it.
func TestDeadlocksOfCohortsAreFound(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, at *servers) {
		one := newStageFor(t, at.Connect(), longest) // no cohort ends in mid-story
		t.Run("passed on", func(t *testing.T) {
			first := one.caller(t, "A", "/on/x", inCohort).holds(t)
			b := one.caller(t, "B", "/on/x", inCohort).waits(t)
			one.caller(t, "C", "/on/y", inCohort).holds(t)
			first.send(&messages.Release{})
			b.holds(t)
			one.caller(t, "A", "/on/y", inCohort).waits(t)
			forX := one.caller(t, "C", "/on/x", inCohort).waits(t)
			require.Empty(t, one.deadlocks(t, "/on"), "A has given x back, and B goes on")
			one.caller(t, "B", "/on/y", inCohort).waits(t)
			require.Equal(t, [][]string{{"B holds /on/x and waits for /on/y", "C holds /on/y and waits for /on/x"}},
				one.deadlocks(t, "/on"))
			require.Empty(t, one.deadlocks(t, "/on/x"), "half of it shows no circle")
			b.send(&messages.Release{})
			forX.holds(t)
			require.Empty(t, one.deadlocks(t, "/on"))
		})
		t.Run("with another session", func(t *testing.T) {
			two := newStage(t, at.Connect())
			one.caller(t, "A", "/two/x", inCohort).holds(t)
			two.caller(t, "B", "/two/y").holds(t)
			one.caller(t, "D", "/two/y", inCohort).waits(t)
			one.caller(t, "A", "/two/y", inCohort).waits(t)
			two.caller(t, "B", "/two/x").waits(t)
			require.Equal(t, [][]string{{"A holds /two/x and waits for /two/y", "B holds /two/y and waits for /two/x"}},
				one.deadlocks(t, "/two"))
			require.Empty(t, two.deadlocks(t, "/two"), "only its own session knows that A waits for y")
		})
		t.Run("with a reader in line", func(t *testing.T) {
			two := newStage(t, at.Connect())
			one.caller(t, "A", "/line/x", inCohort).holds(t)
			two.caller(t, "B", "/line/y", inMode(messages.Write)).holds(t)
			one.caller(t, "D", "/line/y", inCohort, inMode(messages.Read)).waits(t)
			one.caller(t, "A", "/line/y", inCohort, inMode(messages.Read)).waits(t)
			require.Empty(t, one.deadlocks(t, "/line"), "B goes on")
			two.caller(t, "B", "/line/x").waits(t)
			require.Equal(t, [][]string{{"A holds /line/x and waits for /line/y", "B holds /line/y and waits for /line/x"}},
				one.deadlocks(t, "/line"))
		})
		t.Run("another session's", func(t *testing.T) {
			two := newStage(t, at.Connect())
			ax := one.caller(t, "A", "/theirs/x", inCohort).holds(t)
			b := one.caller(t, "B", "/theirs/x", inCohort).waits(t)
			two.caller(t, "C", "/theirs/y").holds(t)
			ax.send(&messages.Release{})
			b.holds(t)
			one.caller(t, "A", "/theirs/y", inCohort).waits(t)
			two.caller(t, "C", "/theirs/x").waits(t)
			eventually(t, func() bool { return two.holder(t, "/theirs/x") == "B" }, "the node never names B")
			require.Empty(t, two.deadlocks(t, "/theirs"), "B goes on")
		})
		t.Run("another session's, of who has the node now", func(t *testing.T) {
			two := newStage(t, at.Connect())
			ax := one.caller(t, "A", "/now/x", inCohort).holds(t)
			b := one.caller(t, "B", "/now/x", inCohort).waits(t)
			two.caller(t, "C", "/now/y").holds(t)
			ax.send(&messages.Release{})
			b.holds(t)
			one.caller(t, "B", "/now/y", inCohort).waits(t)
			two.caller(t, "C", "/now/x").waits(t)
			circle := [][]string{{"B holds /now/x and waits for /now/y", "C holds /now/y and waits for /now/x"}}
			eventually(t, func() bool { return two.holder(t, "/now/x") == "B" }, "the node never names B")
			require.Equal(t, circle, two.deadlocks(t, "/now"))
			require.Equal(t, circle, one.deadlocks(t, "/now"))
		})
		t.Run("of two sessions, each passed on", func(t *testing.T) {
			two, third := newStageFor(t, at.Connect(), longest), newStage(t, at.Connect())
			ax := one.caller(t, "A", "/both/x", inCohort).holds(t)
			b := one.caller(t, "B", "/both/x", inCohort).waits(t)
			cy := two.caller(t, "C", "/both/y", inCohort).holds(t)
			d := two.caller(t, "D", "/both/y", inCohort).waits(t)
			ax.send(&messages.Release{})
			b.holds(t)
			cy.send(&messages.Release{})
			d.holds(t)
			one.caller(t, "B", "/both/y", inCohort).waits(t)
			two.caller(t, "D", "/both/x", inCohort).waits(t)
			eventually(t, func() bool { return third.holder(t, "/both/x") == "B" }, "the node never names B")
			eventually(t, func() bool { return third.holder(t, "/both/y") == "D" }, "the node never names D")
			for _, any := range []*stage{one, two, third} {
				require.Equal(t, [][]string{{"B holds /both/x and waits for /both/y", "D holds /both/y and waits for /both/x"}},
					any.deadlocks(t, "/both"))
			}
		})
	})
}

// TestOnlyOneInManyCohortsGivesUp: in a circle of requests of one session, all of which look.
func TestOnlyOneInManyCohortsGivesUp(t *testing.T) {
	const many = 4
	eachServerAlone(t, func(t *testing.T, at *servers) {
		one := newStage(t, at.Connect())
		var held, asked []*request
		for i := range many {
			held = append(held, one.caller(t, itoa(i), "/circle/"+itoa(i), inCohort).holds(t))
		}
		over := make(chan cancelled, many)
		ctx := deadline(t)
		for i := range many {
			r := one.caller(t, itoa(i), "/circle/"+itoa((i+1)%many), inCohort, detecting)
			asked = append(asked, r)
			go func() {
				_, err := r.rec.Await(ctx, messages.StateCancelled)
				over <- cancelled{i, err}
			}()
		}
		gaveUp := <-over
		require.NoError(t, gaveUp.err)
		first := gaveUp.which
		held[first].send(&messages.Release{})
		for i := 1; i < many; i++ { // one after the other gets what it waits for, and gives back what it has
			next := (first - i + many) % many
			asked[next].hold(t)
			asked[next].send(&messages.Release{})
			asked[next].finish(t)
			held[next].send(&messages.Release{})
			held[next].finish(t)
		}
		told := asked[first].finish(t)
		require.Len(t, told, 2)
		require.Len(t, told[0].(*messages.Deadlocked).Deadlock.Members, many)
		require.Equal(t, messages.ReasonDeadlock, told[1].(*messages.Cancelled).Reason)
	})
}
