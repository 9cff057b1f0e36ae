package walk

// Sessions that their clients give up, and that live on at the servers.

// smallGiveUps are the bounds of every test run.
var smallGiveUps = []Plan{
	{Name: "given up, alone", Sessions: single, Bounds: Bounds{GivesUp: 1, Cuts: 1}},
	{Name: "given up, two", Sessions: two, Prompt: true, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, apart", Sessions: apart, Prompt: true, Spared: spareB, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, a contest", Sessions: apart, Modes: contests, Prompt: true, Spared: spareB, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, sticky", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, a cohort", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{GivesUp: 1}},
}

// largeGiveUps are the plans of `make walk`.
var largeGiveUps = []Plan{
	{Name: "given up, alone, twice", Sessions: single, Prompt: true,
		Bounds: Bounds{GivesUp: 2, Cuts: 1, Expiries: 1, Cancels: 1}},
	{Name: "given up, three", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{GivesUp: 1}},
	{Name: "given up, alone, every order", Sessions: single,
		Bounds: Bounds{GivesUp: 2, Cuts: 1, Expiries: 1, Cancels: 1, Slow: Always}},
	{Name: "given up, apart, every order", Sessions: apart, Spared: spareB, Bounds: Bounds{GivesUp: 1, Slow: Always}},
	{Name: "given up, apart, a cut", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{GivesUp: 2, Cuts: 1, Expiries: 1, Lapses: 1}},
	{Name: "given up, apart, both", Sessions: apart, Prompt: true, Bounds: Bounds{GivesUp: 2, Expiries: 1}},
	{Name: "given up, two, a stop", Sessions: two, Prompt: true, Bounds: Bounds{GivesUp: 1, Stops: 1, Late: 1, Slow: 1}},
	{Name: "given up, three, a cancel", Sessions: twoOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{GivesUp: 1, Cancels: 1, Expiries: 1}},
	{Name: "given up, readers and writers", Sessions: twoOne, Modes: writeReadWrite, Prompt: true, Spared: spareB,
		Bounds: Bounds{GivesUp: 1, Expiries: 1}},
	{Name: "given up, closed", Sessions: apart, Prompt: true, Spared: spareB, Bounds: Bounds{GivesUp: 1, Closes: 1, Cuts: 1}},
}
