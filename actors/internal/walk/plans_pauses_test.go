package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// Orders that wait, because the servers hang up on them or put them off.

// smallPauses are the bounds of every test run.
var smallPauses = []Plan{
	{Name: "hung up on", Sessions: single, HangsUp: true, Prompt: true, Bounds: Bounds{Cuts: 3, Cancels: 1, Late: 1}},
	{Name: "hung up on, an actor stops", Sessions: single, HangsUp: true, Prompt: true, Bounds: Bounds{Cuts: 2, Stops: 1, Slow: 1}},
	{Name: "hung up on, an expiry", Sessions: single, HangsUp: true, Prompt: true,
		Bounds: Bounds{Cuts: 2, Lapses: 1, Expiries: 1}},
	{Name: "hung up on, two", Sessions: two, HangsUp: true, Prompt: true, Bounds: Bounds{Cuts: 2}},
	{Name: "hung up on, apart", Sessions: apart, HangsUp: true, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 2}},
	{Name: "put off", Sessions: single, Bounds: Bounds{Defers: 3, Cancels: 1, Slow: 1}},
	{Name: "put off, two", Sessions: two, Prompt: true, Bounds: Bounds{Defers: 2, Cancels: 1}},
	{Name: "put off, apart, and a cut", Sessions: apart, Prompt: true, Spared: spareB, Bounds: Bounds{Defers: 1, Cuts: 1}},
	{Name: "put off, a cohort", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Defers: 2}},
	{Name: "put off, sticky", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{Defers: 2}},
	{Name: "put off, a contest", Sessions: apart, Modes: contests, Prompt: true, Bounds: Bounds{Defers: 2}},
	{Name: "put off, readers", Sessions: two, Modes: readWrite, Prompt: true, Bounds: Bounds{Defers: 2}},
	{Name: "put off, permits", Sessions: apart, Modes: semaphores, Permits: 1, Prompt: true, Bounds: Bounds{Defers: 2}},
}

// largePauses are the plans of `make walk`.
var largePauses = []Plan{
	{Name: "hung up on, three", Sessions: twoOne, HangsUp: true, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 2}},
	{Name: "hung up on, two, a stop", Sessions: two, HangsUp: true, Prompt: true, Bounds: Bounds{Cuts: 2, Stops: 1}},
	{Name: "put off, three", Sessions: twoOne, Prompt: true, Bounds: Bounds{Defers: 2, Slow: 1}},
	{Name: "a node returns, another session between", Sessions: []int{0, 1, 0}, Arrive: firstIsThere, Prompt: true,
		Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "put off, two, cuts", Sessions: two, Prompt: true, Bounds: Bounds{Defers: 2, Cuts: 1}},
}

// smallReturns are plans in which restored servers bring back what a session has deleted. A waiter
// may look again any number of times.
var smallReturns = []Plan{
	{Name: "a node returns, one session", Sessions: two, Arrive: secondLater, Prompt: true, Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "a node returns, three", Sessions: three, Arrive: thirdLater, Prompt: true, Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "a node returns, another session between, no look-ahead", Sessions: []int{0, 1, 0}, Arrive: firstIsThere, Prompt: true,
		Without: coordinator.LookAhead, Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "a node returns, and a cut", Sessions: two, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Returns: 1, Cuts: 1, Polls: Always}},
	{Name: "a node returns, readers and writers", Sessions: three, Modes: writeReadWrite, Arrive: firstIsThere, Prompt: true,
		Bounds: Bounds{Returns: 1, Polls: Always}},
}

var firstIsThere = [maxActors]bool{1: true, 2: true}
