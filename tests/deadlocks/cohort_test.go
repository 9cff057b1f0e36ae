package deadlocks

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// inCohort has a request share the node of its session.
func inCohort(want *messages.Acquire) { want.Cohort = 64 }

// deadlocksOf looks for deadlocks in the session of a stage, and gives the members of each, in words and in order. Which
// of them is the oldest depends on whether its cohort has ended meanwhile, and it has a node.
func deadlocksOf(t *testing.T, s *stage.Stage, root string) (all [][]string) {
	t.Helper()
	answer, err := s.Session.Ask(patient.Deadline(t), &messages.FindDeadlocks{Root: root})
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
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		client := patient.Open(t, at.Connect())
		detect, cohort := locks.WithDeadlockDetection("/inside", often), locks.WithCohort(64)
		x, err := client.Mutex("/inside/x", cohort).Lock(patient.Deadline(t))
		require.NoError(t, err)
		y, err := client.Mutex("/inside/y", cohort).Lock(patient.Deadline(t))
		require.NoError(t, err)
		older := lockWithin(t, client, x, "/inside/y", cohort)
		require.Empty(t, deadlocks(t, client, "/inside"), "y is given back by somebody who goes on")
		younger := patient.Elsewhere(y.Context(), client.Mutex("/inside/x", cohort, detect).Lock)

		a := patient.Receive(t, younger)
		require.ErrorIs(t, a.Err, locks.ErrDeadlock)
		var deadlock *locks.DeadlockError
		require.ErrorAs(t, a.Err, &deadlock)
		require.Len(t, deadlock.Deadlock.Members, 2)
		require.Contains(t, a.Err.Error(), "holds /inside/x and waits for /inside/y")
		require.Contains(t, a.Err.Error(), "holds /inside/y and waits for /inside/x")
		select {
		case a := <-older:
			t.Fatalf("the older one ended as well: %v", a.Err)
		default:
		}
		patient.GiveBack(t, y)
		a = patient.Receive(t, older)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease, x)
		stories.AwaitNone(t, at, "/inside/x")
		stories.AwaitNone(t, at, "/inside/y")
	})
}

// TestDeadlockInsideAClient: two callers of one client who wait for each other inside it, without a node. The one that asked
// last gives up, and the error says who waited for whom. What another holds in turn is no deadlock.
func TestDeadlockInsideAClient(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		client := patient.Open(t, at.Connect(), locks.WithSessionTimeout(stories.Longest))
		lock := func(path string) *locks.Mutex {
			return client.Mutex(path, locks.WithCohort(64), locks.WithDeadlockDetection("/within", often))
		}
		for range 2 { // with other holders of the same nodes
			patient.GiveBack(t, patient.Locked(t, lock("/within/x").Lock), patient.Locked(t, lock("/within/y").Lock))
		}
		x, y := patient.Locked(t, lock("/within/x").Lock), patient.Locked(t, lock("/within/y").Lock)
		older := patient.Elsewhere(x.Context(), lock("/within/y").Lock)
		patient.AwaitInside(t, client, 1)
		require.Empty(t, deadlocks(t, client, "/within"), "y is given back by somebody who goes on")
		younger := patient.Elsewhere(y.Context(), lock("/within/x").Lock)
		a := patient.Receive(t, younger)
		require.ErrorIs(t, a.Err, locks.ErrDeadlock)
		var of *locks.Error
		require.ErrorAs(t, a.Err, &of)
		require.Equal(t, messages.ReasonDeadlock, of.Reason)
		require.Contains(t, a.Err.Error(), "holds /within/x and waits for /within/y")
		require.Contains(t, a.Err.Error(), "holds /within/y and waits for /within/x")
		require.Empty(t, older)
		patient.GiveBack(t, y)
		a = patient.Receive(t, older)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease, x)
		stories.AwaitNone(t, at, "/within/x")
		stories.AwaitNone(t, at, "/within/y")
	})
}

// holderOf gives the holder of a lock, as its node names it.
func holderOf(t *testing.T, s *stage.Stage, path string) string {
	t.Helper()
	answer, err := s.Session.Ask(patient.Deadline(t), &messages.ReadQueue{Path: path})
	require.NoError(t, err)
	for _, c := range answer.(*messages.Queue).Contenders {
		if c.Holds {
			return c.Caller
		}
	}
	return ""
}

// TestDeadlocksOfCohortsAreFound: by any query of the session that has the cohorts. The request
// that holds with a node that was passed on counts, and not the one that has made it.
func TestDeadlocksOfCohortsAreFound(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		one := stage.NewFor(t, at.Connect(), stories.Longest) // no cohort ends in mid-story
		t.Run("passed on", func(t *testing.T) {
			first := caller(t, one, "A", "/on/x", inCohort).Holds(t)
			b := caller(t, one, "B", "/on/x", inCohort).Waits(t)
			caller(t, one, "C", "/on/y", inCohort).Holds(t)
			first.Send(&messages.Release{})
			b.Holds(t)
			caller(t, one, "A", "/on/y", inCohort).Waits(t)
			forX := caller(t, one, "C", "/on/x", inCohort).Waits(t)
			require.Empty(t, deadlocksOf(t, one, "/on"), "A has given x back, and B goes on")
			caller(t, one, "B", "/on/y", inCohort).Waits(t)
			require.Equal(t, [][]string{{"B holds /on/x and waits for /on/y", "C holds /on/y and waits for /on/x"}},
				deadlocksOf(t, one, "/on"))
			require.Empty(t, deadlocksOf(t, one, "/on/x"), "half of it shows no circle")
			b.Send(&messages.Release{})
			forX.Holds(t)
			require.Empty(t, deadlocksOf(t, one, "/on"))
		})
		t.Run("with another session", func(t *testing.T) {
			two := stage.New(t, at.Connect())
			caller(t, one, "A", "/two/x", inCohort).Holds(t)
			caller(t, two, "B", "/two/y").Holds(t)
			caller(t, one, "D", "/two/y", inCohort).Waits(t)
			caller(t, one, "A", "/two/y", inCohort).Waits(t)
			caller(t, two, "B", "/two/x").Waits(t)
			require.Equal(t, [][]string{{"A holds /two/x and waits for /two/y", "B holds /two/y and waits for /two/x"}},
				deadlocksOf(t, one, "/two"))
			require.Empty(t, deadlocksOf(t, two, "/two"), "only its own session knows that A waits for y")
		})
		t.Run("with a reader in line", func(t *testing.T) {
			two := stage.New(t, at.Connect())
			caller(t, one, "A", "/line/x", inCohort).Holds(t)
			caller(t, two, "B", "/line/y", inMode(messages.Write)).Holds(t)
			caller(t, one, "D", "/line/y", inCohort, inMode(messages.Read)).Waits(t)
			caller(t, one, "A", "/line/y", inCohort, inMode(messages.Read)).Waits(t)
			require.Empty(t, deadlocksOf(t, one, "/line"), "B goes on")
			caller(t, two, "B", "/line/x").Waits(t)
			require.Equal(t, [][]string{{"A holds /line/x and waits for /line/y", "B holds /line/y and waits for /line/x"}},
				deadlocksOf(t, one, "/line"))
		})
		t.Run("another session's", func(t *testing.T) {
			two := stage.New(t, at.Connect())
			ax := caller(t, one, "A", "/theirs/x", inCohort).Holds(t)
			b := caller(t, one, "B", "/theirs/x", inCohort).Waits(t)
			caller(t, two, "C", "/theirs/y").Holds(t)
			ax.Send(&messages.Release{})
			b.Holds(t)
			caller(t, one, "A", "/theirs/y", inCohort).Waits(t)
			caller(t, two, "C", "/theirs/x").Waits(t)
			patient.Eventually(t, func() bool { return holderOf(t, two, "/theirs/x") == "B" }, "the node never names B")
			require.Empty(t, deadlocksOf(t, two, "/theirs"), "B goes on")
		})
		t.Run("another session's, of who has the node now", func(t *testing.T) {
			two := stage.New(t, at.Connect())
			ax := caller(t, one, "A", "/now/x", inCohort).Holds(t)
			b := caller(t, one, "B", "/now/x", inCohort).Waits(t)
			caller(t, two, "C", "/now/y").Holds(t)
			ax.Send(&messages.Release{})
			b.Holds(t)
			caller(t, one, "B", "/now/y", inCohort).Waits(t)
			caller(t, two, "C", "/now/x").Waits(t)
			circle := [][]string{{"B holds /now/x and waits for /now/y", "C holds /now/y and waits for /now/x"}}
			patient.Eventually(t, func() bool { return holderOf(t, two, "/now/x") == "B" }, "the node never names B")
			require.Equal(t, circle, deadlocksOf(t, two, "/now"))
			require.Equal(t, circle, deadlocksOf(t, one, "/now"))
		})
		t.Run("of two sessions, each passed on", func(t *testing.T) {
			two, third := stage.NewFor(t, at.Connect(), stories.Longest), stage.New(t, at.Connect())
			ax := caller(t, one, "A", "/both/x", inCohort).Holds(t)
			b := caller(t, one, "B", "/both/x", inCohort).Waits(t)
			cy := caller(t, two, "C", "/both/y", inCohort).Holds(t)
			d := caller(t, two, "D", "/both/y", inCohort).Waits(t)
			ax.Send(&messages.Release{})
			b.Holds(t)
			cy.Send(&messages.Release{})
			d.Holds(t)
			caller(t, one, "B", "/both/y", inCohort).Waits(t)
			caller(t, two, "D", "/both/x", inCohort).Waits(t)
			patient.Eventually(t, func() bool { return holderOf(t, third, "/both/x") == "B" }, "the node never names B")
			patient.Eventually(t, func() bool { return holderOf(t, third, "/both/y") == "D" }, "the node never names D")
			for _, any := range []*stage.Stage{one, two, third} {
				require.Equal(t, [][]string{{"B holds /both/x and waits for /both/y", "D holds /both/y and waits for /both/x"}},
					deadlocksOf(t, any, "/both"))
			}
		})
	})
}

// TestOnlyOneInManyCohortsGivesUp: in a circle of requests of one session, all of which look.
func TestOnlyOneInManyCohortsGivesUp(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		one := stage.New(t, at.Connect())
		giveUpInTurn(t, 4, func() *stage.Stage { return one }, inCohort)
	})
}
