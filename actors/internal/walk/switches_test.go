package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// What is promised does not hang on a fast path: the plans of this file are walked with each of them switched off.

// switches names the fast paths.
var switches = []struct {
	name string
	path coordinator.Switches
}{
	{"group commit", coordinator.GroupCommit},
	{"hand-over", coordinator.HandOver},
	{"looking ahead", coordinator.LookAhead},
}

// without gives plans with each of the fast paths switched off.
func without(plans []Plan) (all []Plan) {
	for _, s := range switches {
		for _, plan := range plans {
			plan.Name = "without " + s.name + ": " + plan.Name
			plan.Without = s.path
			all = append(all, plan)
		}
	}
	return all
}

// smallWithout are the plans of every test run with each fast path switched off.
var smallWithout = []Plan{
	{Name: "a cancel, three", Sessions: twoOne, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "one session, an operator", Sessions: two, Prompt: true, Bounds: Bounds{Breaks: 1, Polls: 1, Stops: 1}},
}

// largeWithout are the plans of `make walk`.
var largeWithout = []Plan{
	{Name: "calm, three", Sessions: twoOne},
	{Name: "a cut, one session", Sessions: two, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "a cut, three", Sessions: twoOne, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "an expiry, three", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "an operator, three", Sessions: twoOne, Prompt: true, Bounds: Bounds{Breaks: 1}},
}
