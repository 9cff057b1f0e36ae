package walk

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// TestMistakesAreFound shows that the walk can fail: each mistake breaks an invariant, and it is known which one comes
// first.
func TestMistakesAreFound(t *testing.T) {
	all := slices.Concat(atBoundary, aboveTurns)
	if underRace {
		all = all[:2]
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			find(t, c)
		})
	}
}

// find walks with a mistake, and wants its violation.
func find(t *testing.T, c seeded) {
	plan := c.plan
	plan.Name, plan.Limit = c.name, 200_000
	result, err := WalkWith(plan, c.mistake)
	var violation *Violation
	require.True(t, errors.As(err, &violation), "%v: %v", result, err)
	t.Logf("%v\n%v", result, violation)
	require.Equal(t, c.breaks, violation.Invariant)
}

// TestMistakesApply: the texts that the mistakes in the source replace are there. TestWalkFinds, of `make mistakes`,
// walks with these mistakes.
func TestMistakesApply(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	for _, c := range slices.Concat(inCoordinator, inTurns) {
		m := c.inSource()
		_, err := m.Overlay(root, t.TempDir())
		require.NoError(t, err)
		m.Name, m.Test = "walk, "+m.Name, "actors/internal/walk TestWalk"
		require.NoError(t, mistakes.List(m))
	}
}

// TestStory: a violation is told from the start, one move a line, by the shortest way.
func TestStory(t *testing.T) {
	_, err := WalkWith(Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Expiries: 1}}, Mistake{EndsEarly: true})
	require.EqualError(t, err, `invariant 1: mutual exclusion
contender 1 and contender 2 both hold the lock with valid leases:
  1. session A: the servers carry out Create of stage 0
  2. session A: the answer comes to Create of stage 1; session A hears *coordinator.Reply; `+
		`contender 1: creating → held on Created; contender 1: TellHeld; session A hears *coordinator.Reply; `+
		`session A hears *coordinator.Order; session A hears coordinator.Fired; session A hears coordinator.Fired
  3. session A: the servers end the session
  4. session A: the nodes of the session that is over are deleted
  5. session B: the servers carry out Create of stage 0
  6. session B: the answer comes to Create of stage 1; session B hears *coordinator.Reply; `+
		`contender 2: creating → held on Created; contender 2: TellHeld; session B hears *coordinator.Reply`)
}

// TestLimit: a walk that comes to too many states says so.
func TestLimit(t *testing.T) {
	_, err := Walk(Plan{Sessions: twoOne, LateAnswers: true, Limit: 100})
	require.ErrorContains(t, err, "more than 100 states")
}

// TestPlanThatCannotBeFollowed: a plan whose first moves cannot be made is told from one without violations.
func TestPlanThatCannotBeFollowed(t *testing.T) {
	_, err := Walk(Plan{Sessions: single, LateAnswers: true, After: []string{"session A: an event arrives"}})
	require.ErrorContains(t, err, "cannot happen, but:\nsession A: the servers carry out Create of stage 0")
}
