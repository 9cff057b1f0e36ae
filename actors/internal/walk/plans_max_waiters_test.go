package walk

// Requests that wait behind a bounded number.
var (
	behindNobody = [maxActors]int{1, 1, 1, 1}
	behindOne    = [maxActors]int{2, 2, 2, 2}
	lastBounded  = [maxActors]int{3: 3}
	thirdBounded = [maxActors]int{2: 2}
)

// smallMaxWaiters are the plans of every test run with bounds on waiters.
var smallMaxWaiters = []Plan{
	{Name: "behind nobody, every order", Sessions: two, MaxWaiters: behindNobody, Bounds: Bounds{Slow: Always}},
	{Name: "behind nobody, apart, every order", Sessions: apart, MaxWaiters: behindNobody, Bounds: Bounds{Slow: Always}},
	{Name: "behind one", Sessions: three, MaxWaiters: behindOne},
	{Name: "behind one, of another session", Sessions: twoOne, MaxWaiters: behindOne, Prompt: true},
	{Name: "behind one, crowded", Sessions: twoOne, MaxWaiters: behindOne, Prompt: true, Crowded: true},
	{Name: "behind one, a cancel", Sessions: three, MaxWaiters: behindOne, Prompt: true, Bounds: Bounds{Cancels: 1, Slow: 1}},
	{Name: "behind one, a release and a timeout", Sessions: apart, MaxWaiters: behindOne, Prompt: true,
		Bounds: Bounds{Releases: 1, Timeouts: 1}},
	{Name: "behind one, a stop", Sessions: three, MaxWaiters: behindOne, Prompt: true, Bounds: Bounds{Stops: 1}},
	{Name: "behind one, a cut", Sessions: apart, MaxWaiters: behindOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "behind nobody, a cut", Sessions: twoOne, MaxWaiters: behindNobody, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "behind nobody, a cut, every answer late", Sessions: two, MaxWaiters: behindNobody, Bounds: Bounds{Cuts: 1}},
	{Name: "behind one, an expiry", Sessions: two, MaxWaiters: behindOne, Prompt: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "behind one, hung up on", Sessions: apart, MaxWaiters: behindOne, Prompt: true, HangsUp: true, Spared: spareB,
		Bounds: Bounds{Cuts: 2}},
	{Name: "behind one, put off", Sessions: two, MaxWaiters: behindOne, Prompt: true, Bounds: Bounds{Defers: 1}},
	{Name: "behind one, an operator", Sessions: three, MaxWaiters: behindOne, Prompt: true, Bounds: Bounds{Breaks: 1}},
	{Name: "behind one, a late order", Sessions: three, MaxWaiters: behindOne, Prompt: true, Bounds: Bounds{Late: 1}},
	{Name: "behind one, not there yet", Sessions: two, MaxWaiters: behindNobody, Prompt: true, Down: true, Arrive: all,
		Bounds: Bounds{Cuts: 1, Closes: 1}},
	{Name: "the last behind two, one waits inside", Sessions: four, MaxWaiters: lastBounded, Waiting: 1, Prompt: true},
	{Name: "the third behind one, two sessions", Sessions: oneTwo, MaxWaiters: thirdBounded, Prompt: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "behind one in a cohort", Sessions: three, Cohort: cohort, MaxWaiters: behindOne, Prompt: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "the third behind one in a cohort, a cut", Sessions: three, Cohort: cohort, MaxWaiters: thirdBounded,
		Arrive: thirdLater, Prompt: true, Bounds: Bounds{Cuts: 1}, After: []string{
			"session A: the connection is lost with the answer to Create of stage 0",
			"session A: the answer comes to Create of stage 1",
			"session A: an event arrives",
			"session A: a server is found",
		}},
	{Name: "behind one in a cohort, another session", Sessions: twoOne, Cohort: cohort, MaxWaiters: behindOne, Prompt: true},
	{Name: "readers behind one", Sessions: three, Modes: writeReadRead, MaxWaiters: behindOne, Prompt: true},
	{Name: "readers of a cohort behind one", Sessions: oneTwo, Modes: writeReadRead, Cohort: allButFirst,
		MaxWaiters: behindOne, Prompt: true},
	{Name: "readers need not wait", Sessions: twoOne, Modes: readers, MaxWaiters: behindNobody, Prompt: true},
	{Name: "permits behind one", Sessions: twoOne, Modes: semaphores, Permits: 1, MaxWaiters: behindOne, Prompt: true},
	{Name: "owners behind nobody", Sessions: three, Owners: ownersTwo, Reentry: all, MaxWaiters: behindNobody, Prompt: true},
	{Name: "sticky, behind nobody", Sessions: two, Sticky: all, Arrive: secondLater, MaxWaiters: behindNobody, Prompt: true},
	{Name: "only trying is not bounded", Sessions: three, Try: lastTries, MaxWaiters: behindOne, Prompt: true},
}

// largeMaxWaiters are the plans of `make walk`.
var largeMaxWaiters = []Plan{
	{Name: "behind one, three, a cut", Sessions: twoOne, MaxWaiters: behindOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "behind one, three, an expiry", Sessions: twoOne, MaxWaiters: behindOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "sticky, behind nobody, another session", Sessions: twoOne, Sticky: all, Arrive: secondLater,
		MaxWaiters: behindNobody, Prompt: true},
	{Name: "behind one, every order", Sessions: three, MaxWaiters: behindOne, Bounds: Bounds{Slow: Always}},
	{Name: "behind one, a cut and a cancel", Sessions: three, MaxWaiters: behindOne, Prompt: true,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "behind one, a cut and an expiry", Sessions: twoOne, MaxWaiters: behindOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "behind one in a cohort, a cut", Sessions: three, Cohort: cohort, MaxWaiters: behindOne, Prompt: true,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "the last behind two, one waits inside, a cut", Sessions: four, MaxWaiters: lastBounded, Waiting: 1,
		Prompt: true, Bounds: Bounds{Cuts: 1}},
}
