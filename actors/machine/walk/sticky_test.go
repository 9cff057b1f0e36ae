package walk

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who comes later, and may find a node that rests.
var (
	secondLater = [maxContenders]bool{1: true}
	thirdLater  = [maxContenders]bool{2: true}
	three       = []int{0, 0, 0}
	firstTwo    = [maxContenders]bool{true, true}
)

// smallSticky are the plans of every test run with locks that stick.
var smallSticky = []Plan{
	{Name: "sticky, two", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Slow: Always}},
	{Name: "sticky, apart, a cut", Sessions: apart, Sticky: all, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true},
	{Name: "sticky, two, silence", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Silences: 1, Slow: 1}},
	{Name: "sticky, two, a stop", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "sticky, two, an operator", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Breaks: 1}},
	{Name: "sticky, two, a cancel", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Cancels: 1}},
	{Name: "sticky, one transaction", Sessions: three, Sticky: all, Arrive: thirdLater, Prompt: true, Together: true,
		Bounds: Bounds{Late: 1}},
}

// largeSticky are those of `make walk`.
var largeSticky = []Plan{
	{Name: "sticky, three, a release", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true, Bounds: Bounds{Releases: 1}},
	{Name: "sticky, apart, a cut and a lag", Sessions: apart, Sticky: all, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "sticky, two, a cut", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, two, a cut, slow", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{Cuts: 1, Slow: 1}},
	{Name: "sticky, two, a cut, late", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{Cuts: 1, Late: 1}},
	{Name: "sticky, two, an expiry", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "sticky, two, a close", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{Closes: 1, Late: 1}},
	{Name: "sticky, three, a cut", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three, a stop", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true, Bounds: Bounds{Stops: 1}},
	{Name: "sticky, three, an operator", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true, Bounds: Bounds{Breaks: 1}},
	{Name: "sticky, one transaction, a cut", Sessions: two, Sticky: all, Prompt: true, Together: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, one transaction, late orders", Sessions: three, Sticky: all, Arrive: thirdLater, Prompt: true,
		Together: true, Bounds: Bounds{Late: 2}},
}

// TestStickyMistakesAreFound is TestMistakesAreFound for locks that stick.
func TestStickyMistakesAreFound(t *testing.T) {
	late := Bounds{Late: 1}
	for name, c := range map[string]struct {
		mistake Mistake
		plan    Plan
		breaks  Invariant
	}{
		"rest though somebody has come": {RestThoughWanted, Plan{Sessions: twoOne, Arrive: secondLater}, NoLostWakeUp},
		"rest on when somebody comes":   {RestOn, Plan{Sessions: apart}, NoLostWakeUp},
		"rest through a cut":            {RestThroughCuts, Plan{Sessions: apart, Bounds: Bounds{Cuts: 1}}, NoLostWakeUp},
		"watch without looking":         {WatchWithoutLooking, Plan{Sessions: apart}, NoLostWakeUp},
		"forget what has rested":        {ForgetTheRested, Plan{Sessions: two, Arrive: secondLater}, NoOrphan},
		"lend what goes":                {LendWhatGoes, Plan{Sessions: twoOne, Arrive: secondLater}, Exclusion},
		"reuse what may be gone":        {ReuseUnchecked, Plan{Sessions: twoOne, Arrive: secondLater, Prompt: true, Bounds: Bounds{Breaks: 1}}, Exclusion},
		"use a token twice":             {SameTokenTwice, Plan{Sessions: two, Arrive: secondLater}, TokensRise},
		"leave what has mates":          {LayDownWithMates, Plan{Sessions: three, Arrive: thirdLater, Together: true, Bounds: late}, TokensRise},
		"verify what rests": {VerifyWhatRests,
			Plan{Sessions: two, Arrive: secondLater, Prompt: true, Bounds: Bounds{Cuts: 1, Late: 1}}, Exclusion},
	} {
		t.Run(name, func(t *testing.T) {
			plan := c.plan
			plan.Name, plan.Mistake, plan.Sticky, plan.Limit = name, c.mistake, all, 3_000_000
			result, err := Walk(plan)
			var violation *Violation
			require.True(t, errors.As(err, &violation), "%v: %v", result, err)
			t.Logf("%v\n%v", result, violation)
			require.Equal(t, c.breaks, violation.Invariant)
		})
	}
}
