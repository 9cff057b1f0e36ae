package walk

// Holders that ask to be told of other contenders, or to have their nodes checked; and requests that are
// told more.

// smallContention are the plans of every test run.
var smallContention = []Plan{
	{Name: "contention, every order", Sessions: two, LateAnswers: true, Arrive: second, Bounds: Bounds{Attends: 1, Slow: Always}},
	{Name: "contention, apart", Sessions: apart, Arrive: second, Bounds: Bounds{Attends: 2, Cancels: 1}},
	{Name: "contention, a cut", Sessions: single, Bounds: Bounds{Attends: 2, Cuts: 1, Passes: 1}},
	attendedThenCut,
	{Name: "contention, somebody passes", Sessions: apart, Arrive: second, Swept: true,
		Bounds: Bounds{Attends: 1, Passes: 1}},
	{Name: "contention, a write", Sessions: single, LateAnswers: true, Bounds: Bounds{Attends: 1, Asks: 1, Passes: 1}},
	{Name: "contention, a late heartbeat", Sessions: two, Arrive: second, Bounds: Bounds{Attends: 1, Silences: 1, Slow: 1}},
	{Name: "contention, put off", Sessions: two, Arrive: second, Bounds: Bounds{Attends: 1, Defers: 1}},
	{Name: "a check, an operator", Sessions: single, LateAnswers: true, Bounds: Bounds{Checks: 2, Breaks: 1}},
	{Name: "a check, a cut", Sessions: single, LateAnswers: true, Bounds: Bounds{Checks: 2, Cuts: 1}},
	{Name: "a check, every order", Sessions: single, LateAnswers: true, Bounds: Bounds{Checks: 1, Silences: 1, Slow: Always}},
	{Name: "a check, put off", Sessions: single, Bounds: Bounds{Checks: 2, Defers: 1, Revokes: 1}},
	{Name: "told more, four", Sessions: four, TellMore: all},
	{Name: "told more, a cut", Sessions: apart, TellMore: all, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "told more, somebody asks", Sessions: single, LateAnswers: true, TellMore: all, Bounds: Bounds{Asks: 1, Revokes: 1}},
	{Name: "told more, an expiry", Sessions: apart, TellMore: all, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
}

// largeContention are the plans of `make walk`.
var largeContention = []Plan{
	{Name: "contention, apart, a cut", Sessions: apart, Arrive: second, Spared: spareB,
		Bounds: Bounds{Attends: 2, Cuts: 1}},
	{Name: "contention, a write, two", Sessions: two, Arrive: second, Bounds: Bounds{Attends: 1, Asks: 1}},
	{Name: "told more, three, a cancel", Sessions: three, TellMore: all, Bounds: Bounds{Cancels: 1}},
}

// attendedThenCut: a holder has asked to be told of others, and the connection is lost.
var attendedThenCut = Plan{Name: "contention, asked before a cut", Sessions: apart, Arrive: second, Spared: spareB,
	Bounds: Bounds{Attends: 2, Cuts: 1}, After: []string{
		"session A: the servers carry out Create of stage 0",
		"contender 1 asks to be told of others",
		"session A: the servers carry out WatchContention of stage 0",
		"session A: the servers carry out WatchContention of stage 1",
		"session A: the connection is lost (answers lost: false, requests wait: false)",
	}}
