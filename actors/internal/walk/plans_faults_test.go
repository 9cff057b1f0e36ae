package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// Faults that come from the servers: orders that they hang up on or put off, nodes that come back
// when they are restored, sessions that lapse, and what an earlier process has left.

// smallPauses are the bounds of every test run.
var smallPauses = []Plan{
	{Name: "hung up on", Sessions: single, HangsUp: true, Bounds: Bounds{Cuts: 3, Cancels: 1, Late: 1}},
	{Name: "hung up on, an expiry", Sessions: single, HangsUp: true, Bounds: Bounds{Cuts: 2, Lapses: 1, Expiries: 1}},
	answeredLate,
	{Name: "hung up on, apart", Sessions: apart, HangsUp: true, Spared: spareB, Bounds: Bounds{Cuts: 2}},
	{Name: "put off", Sessions: single, LateAnswers: true, Bounds: Bounds{Defers: 3, Cancels: 1, Slow: 1}},
	{Name: "put off, two", Sessions: two, Bounds: Bounds{Defers: 2, Cancels: 1}},
	{Name: "put off, apart, and a cut", Sessions: apart, Spared: spareB, Bounds: Bounds{Defers: 1, Cuts: 1}},
	{Name: "put off, a contest", Sessions: apart, Modes: contests, Bounds: Bounds{Defers: 2}},
	{Name: "put off, readers", Sessions: two, Modes: readWrite, Bounds: Bounds{Defers: 2}},
	{Name: "put off, permits", Sessions: apart, Modes: semaphores, Permits: 1, Bounds: Bounds{Defers: 2}},
	{Name: "hung up on, an actor stops, slow", Sessions: single, HangsUp: true,
		Bounds: Bounds{Cuts: 2, Stops: 1, Slow: 1}},
}

// smallOrphans are plans in which a create that was lost with its connection is carried out after the next one.
var smallOrphans = []Plan{
	{Name: "an orphan, a cancel", Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1, Cancels: 1}},
	{Name: "an orphan, a stop", Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1, Stops: 1}},
	{Name: "an orphan, a contest", Sessions: single, Modes: contests, Bounds: Bounds{Cuts: 2, Outlives: 1}},
	orphanIsSought,
	contestGoes,
	madeAnew,
	{Name: "an orphan, while the connection is read, slow", Sessions: single, Bounds: Bounds{Cuts: 2, Moves: 1, Slow: 1}},
}

// largeOrphans are the plans of `make walk`.
var largeOrphans = []Plan{
	orphanGoes,
	{Name: "an orphan, apart", Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 2, Outlives: 1}},
	{Name: "an orphan, a contest, apart", Sessions: apart, Modes: contests, Spared: spareB,
		Bounds: Bounds{Cuts: 2, Outlives: 1}},
	lostByTwo,
	{Name: "an orphan, while the connection is read, a contest", Sessions: single, Modes: contests,
		Bounds: Bounds{Cuts: 2, Moves: 1, Slow: 1}},
	{Name: "an orphan, one look more", Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1, Looks: 1, Slow: 1}},
	{Name: "an orphan, hung up on", Sessions: single, HangsUp: true, Bounds: Bounds{Cuts: 4, Outlives: 1}},
	{Name: "an orphan, three cuts", Sessions: single, Bounds: Bounds{Cuts: 3, Outlives: 2, Cancels: 1}},
	{Name: "an orphan, every order", Sessions: single, LateAnswers: true, Bounds: Bounds{Cuts: 2, Outlives: 1, Slow: Always}},
	{Name: "an orphan, an expiry", Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1, Lapses: 1, Expiries: 1}},
	{Name: "an orphan, given up", Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1, GivesUp: 1}},
	{Name: "an orphan, readers and writers", Sessions: two, Modes: readWrite, Bounds: Bounds{Cuts: 2, Outlives: 1}},
	{Name: "an orphan, a reclaimed hold", Sessions: apart, Reclaim: first, Spared: spareB,
		Bounds: Bounds{Cuts: 2, Outlives: 1}},
	{Name: "an orphan, a downgrade", Sessions: two, Modes: writeReadWrite, Beside: besideFirst, Arrive: second,
		Bounds: Bounds{Cuts: 2, Outlives: 1}},
	{Name: "an orphan, permits", Sessions: apart, Modes: semaphores, Permits: 1, Spared: spareB,
		Bounds: Bounds{Cuts: 2, Outlives: 1}},
	{Name: "an orphan, one waits", Sessions: two, Waiting: 1, Bounds: Bounds{Cuts: 2, Outlives: 1}},
	{Name: "an orphan, two, a cancel", Sessions: two, Bounds: Bounds{Cuts: 2, Outlives: 1, Cancels: 1}},
}

// largePauses are the plans of `make walk`.
var largePauses = []Plan{
	{Name: "hung up on, three", Sessions: twoOne, HangsUp: true, Spared: spareB, Bounds: Bounds{Cuts: 2}},
	{Name: "hung up on, two, a stop", Sessions: two, HangsUp: true, Bounds: Bounds{Cuts: 2, Stops: 1}},
	{Name: "put off, three", Sessions: twoOne, Bounds: Bounds{Defers: 2, Slow: 1}},
	{Name: "a node returns, another session between", Sessions: []int{0, 1, 0}, Arrive: secondThird,
		Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "put off, two, cuts", Sessions: two, Bounds: Bounds{Defers: 2, Cuts: 1}},
}

// smallReturns are plans in which restored servers bring back what a session has deleted. A waiter
// may look again any number of times.
var smallReturns = []Plan{
	{Name: "a node returns, one session", Sessions: two, Arrive: second, Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "a node returns, three", Sessions: three, Arrive: third, Bounds: Bounds{Returns: 1, Polls: Always}},
	{Name: "a node returns, and a cut", Sessions: two, Arrive: second,
		Bounds: Bounds{Returns: 1, Cuts: 1, Polls: Always}},
	{Name: "a node returns, readers and writers", Sessions: three, Modes: writeReadWrite, Arrive: secondThird,
		Bounds: Bounds{Returns: 1, Polls: Always}},
	secondIsNoProof,
	{Name: "a node returns, another session between, no look-ahead", Sessions: []int{0, 1, 0}, Arrive: secondThird, Without: coordinator.LookAhead, Bounds: Bounds{Returns: 1, Polls: Always}},
}

// smallGiveUps are the bounds of every test run.
var smallGiveUps = []Plan{
	{Name: "given up, a contest", Sessions: apart, Modes: contests, Spared: spareB, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, alone, every order", Sessions: single, LateAnswers: true,
		Bounds: Bounds{GivesUp: 1, Cuts: 1, Expiries: 1, Cancels: 1, Slow: Always}},
	{Name: "given up, two, a stop", Sessions: two, Bounds: Bounds{GivesUp: 1, Stops: 1, Late: 1, Slow: 1}},
	{Name: "given up, apart, both", Sessions: apart, Bounds: Bounds{GivesUp: 2, Expiries: 1}},
}

// largeGiveUps are the plans of `make walk`.
var largeGiveUps = []Plan{
	{Name: "given up, alone, twice", Sessions: single, Bounds: Bounds{GivesUp: 2, Cuts: 1, Expiries: 1, Cancels: 1}},
	{Name: "given up, three", Sessions: oneTwo, Spared: spareB, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, apart, every order", Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{GivesUp: 1, Slow: Always}},
	{Name: "given up, apart, a cut", Sessions: apart, Spared: spareB,
		Bounds: Bounds{GivesUp: 1, Cuts: 1, Expiries: 1, Lapses: 1}},
	{Name: "given up, three, a cancel", Sessions: twoOne, Spared: spareB,
		Bounds: Bounds{GivesUp: 1, Cancels: 1, Expiries: 1}},
	{Name: "given up, readers and writers", Sessions: twoOne, Modes: writeReadWrite, Spared: spareB,
		Bounds: Bounds{GivesUp: 1, Expiries: 1}},
	{Name: "given up, closed", Sessions: apart, Spared: spareB, Bounds: Bounds{GivesUp: 1, Closes: 1, Cuts: 1}},
}

// smallReclaims are requests that take back what an earlier process held, while others wait for it.
var smallReclaims = []Plan{
	{Name: "a hold is reclaimed, a reader waits", Sessions: apart, LateAnswers: true, Modes: thenRead, Reclaim: first},
	{Name: "a hold is reclaimed, one more of the session", Sessions: twoOne, Reclaim: first},
	{Name: "a hold is reclaimed by two", Sessions: twoOne, Reclaim: firstTwo},
	{Name: "a hold is reclaimed, a cut", Sessions: apart, LateAnswers: true, Reclaim: first, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a hold is reclaimed, the waiter is cut", Sessions: []int{1, 0}, Reclaim: first,
		Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a hold is reclaimed, somebody wants it", Sessions: apart, Reclaim: first, Bounds: Bounds{Asks: 1}},
	{Name: "a hold is reclaimed, an operator", Sessions: apart, Reclaim: first, Bounds: Bounds{Breaks: 1}},
	{Name: "a hold is reclaimed, a cancel and a stop, every answer late", Sessions: apart, LateAnswers: true, Reclaim: first,
		Bounds: Bounds{Cancels: 1, Stops: 1}},
	{Name: "a hold is reclaimed, a cut and an expiry", Sessions: apart, Reclaim: first, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
}

// largeReclaims are the plans of `make walk`.
var largeReclaims = []Plan{
	{Name: "a hold is reclaimed by two, a cut", Sessions: twoOne, Reclaim: firstTwo, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
}
