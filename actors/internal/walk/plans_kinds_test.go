package walk

// smallKinds are semaphores, downgrades, shared holds, and other ways to look at a queue.
var smallKinds = []Plan{
	{Name: "a semaphore, an operator", Sessions: apart, Modes: semaphores, Permits: 1,
		Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "a semaphore that is resized", Sessions: twoOne, Modes: semaphores, Permits: 1, Bounds: Bounds{Resizes: 1}},
	{Name: "a semaphore that is resized, every answer late", Sessions: apart, LateAnswers: true, Modes: semaphores, Permits: 1, Bounds: Bounds{Resizes: 2}},
	{Name: "a semaphore that is resized, a cut", Sessions: apart, Modes: semaphores, Permits: 1, Spared: spareB,
		Bounds: Bounds{Resizes: 1, Cuts: 1}},
	{Name: "all is watched", Sessions: twoOne, WatchAll: all},
	{Name: "all is watched, a cut", Sessions: apart, WatchAll: all, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a crowd", Sessions: twoOne, Crowded: true},
	{Name: "a crowd, a cut", Sessions: apart, Crowded: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a listing later, an operator", Sessions: apart, ListsLater: true, Bounds: Bounds{Breaks: 1}},
	named("a steady lock path is made again", steadyPath(Bounds{Reaps: 1})),
	named("a steady lock path is made again, with strangers", steadyAgain(Bounds{Reaps: 1, Passes: 1, Ages: 1})),
	{Name: "a listing later, readers", Sessions: apart, Modes: writeReadRead, ListsLater: true,
		Bounds: Bounds{Breaks: 1}},
	{Name: "somebody wants a lock that is being revoked", Sessions: single, Bounds: Bounds{Asks: 1, Revokes: 1}},
	{Name: "somebody wants the lock", Sessions: apart, Bounds: Bounds{Asks: 1}},
	{Name: "somebody wants a contest, a cut", Sessions: single, Modes: contests, Bounds: Bounds{Asks: 1, Cuts: 1}},
	{Name: "a semaphore of two, a stop", Sessions: twoOne, Modes: semaphores, Permits: 2, Bounds: Bounds{Stops: 1}},
	{Name: "a downgrade, three, an operator", Sessions: twoOne, Modes: writeReadWrite, Beside: besideFirst,
		Arrive: second, Bounds: Bounds{Breaks: 1, Cancels: 1}},
	{Name: "a downgrade, an expiry", Sessions: two, Modes: writeReadWrite, Beside: besideFirst, Arrive: second,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "a listing later, three, an operator", Sessions: twoOne, ListsLater: true, Bounds: Bounds{Breaks: 1}},
	{Name: "a listing later, every answer late", Sessions: apart, LateAnswers: true, ListsLater: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Breaks: 1}},
	named("a steady lock path is made again, its watch comes late",
		unwatched(steadyAgain(Bounds{Reaps: 1, Passes: 1, Slow: 1}))),
	{Name: "somebody wants a contest, a cut, one session", Sessions: two, Modes: contests,
		Bounds: Bounds{Asks: 1, Cuts: 1}},
}

// swept are plans in which watches are removed: one for each reason to watch.
var swept = []Plan{
	{Name: "swept", Sessions: twoOne, LateAnswers: true, Swept: true, Bounds: Bounds{Cancels: 1}},
	{Name: "swept, an operator", Sessions: apart, LateAnswers: true, Swept: true, Bounds: Bounds{Breaks: 1, Asks: 1}},
	{Name: "swept, a cut", Sessions: apart, LateAnswers: true, Swept: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "swept, a contest", Sessions: twoOne, Modes: contests, Swept: true, Bounds: Bounds{Cancels: 1}},
	{Name: "swept, a semaphore", Sessions: twoOne, Modes: semaphores, Permits: 1, Swept: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "swept, all is watched", Sessions: twoOne, WatchAll: all, Swept: true, Bounds: Bounds{Cancels: 1}},
	named("swept, a steady lock path", sweeping(steadyAgain(Bounds{Reaps: 1, Passes: 1, Ages: 1}))),
}

func sweeping(p Plan) Plan {
	p.Swept = true
	return p
}

// largeKinds are the plans of `make walk`.
var largeKinds = []Plan{
	{Name: "a semaphore, a cancel", Sessions: twoOne, Modes: semaphores, Permits: 1, Bounds: Bounds{Cancels: 1}},
	{Name: "a semaphore, a cut, every answer late", Sessions: apart, LateAnswers: true, Modes: semaphores, Permits: 1, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a semaphore of two, a lapse", Sessions: oneTwo, Modes: semaphores, Permits: 2, Spared: spareB,
		Bounds: Bounds{Lapses: 1}},
	{Name: "a semaphore of two, an operator", Sessions: twoOne, Modes: semaphores, Permits: 2,
		Bounds: Bounds{Breaks: 1}},
	{Name: "a semaphore that is resized twice, a cut", Sessions: apart, Modes: semaphores, Permits: 2, Spared: spareB,
		Bounds: Bounds{Resizes: 2, Cuts: 1}},
	{Name: "a semaphore, an expiry", Sessions: apart, Modes: semaphores, Permits: 1, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "a downgrade, three, a cut", Sessions: twoOne, Modes: writeReadWrite, Beside: besideFirst, Arrive: second,
		Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a downgrade, stops", Sessions: two, Modes: writeReadWrite, Beside: besideFirst, Arrive: second,
		Bounds: Bounds{Stops: 2, Cuts: 1, Late: 1}},
	{Name: "a contest, three, a cut", Sessions: twoOne, Modes: contests, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a contest, an operator, a cut and a lapse", Sessions: apart, Modes: contests, Spared: spareB,
		Bounds: Bounds{Breaks: 1, Cuts: 1, Lapses: 1}},
	{Name: "all is watched, three, a cut", Sessions: twoOne, WatchAll: all, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a crowd, three, a cut", Sessions: twoOne, Crowded: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	named("a steady lock path, an operator", steadyPath(Bounds{Breaks: 1})),
	named("a steady lock path, a cancel", steadyAlone(Bounds{Cancels: 1, Slow: 1})),
	named("a steady lock path, strangers", steadyPath(Bounds{Passes: 2})),
	named("a steady lock path is made again, with strangers, a cut",
		spared(steadyAgain(Bounds{Cuts: 1, Reaps: 1, Passes: 1}))),
	named("a steady lock path, a cut", spared(steadyPath(Bounds{Cuts: 1, Reaps: 1}))),
	{Name: "a steady lock path, from the start", Sessions: threeOne, Arrive: third, Steady: true,
		Bounds: Bounds{Reaps: 1}},
	{Name: "a listing later, three, a cut", Sessions: twoOne, ListsLater: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
}

// tiny are the plans under the race detector.
var tiny = []Plan{
	{Name: "calm", Sessions: apart},
	{Name: "a semaphore", Sessions: apart, Modes: semaphores, Permits: 1},
	{Name: "a contest", Sessions: two, Modes: contests},
}
