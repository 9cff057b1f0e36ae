package walk

// Nodes that serve one request after the other: sticky locks and cohorts.

// smallSticky are the plans of every test run with locks that stick.
var smallSticky = []Plan{
	{Name: "sticky, two", Sessions: two, Sticky: all, Arrive: second, Bounds: Bounds{Slow: Always}},
	{Name: "sticky, two, a cut, prompt", Sessions: two, Sticky: all, Arrive: second, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three", Sessions: twoOne, Sticky: firstTwo, Arrive: second, Prompt: true},
	{Name: "sticky, two, silence", Sessions: two, Sticky: all, Arrive: second, Prompt: true,
		Bounds: Bounds{Silences: 1, Slow: 1}},
	{Name: "sticky, two, a stop", Sessions: two, Sticky: all, Arrive: second, Prompt: true,
		Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "sticky, two, an operator", Sessions: two, Sticky: all, Arrive: second, Bounds: Bounds{Breaks: 1}},
	{Name: "sticky, two, a lapse", Sessions: two, Sticky: all, Arrive: second, Bounds: Bounds{Lapses: 1, Slow: 1}},
	{Name: "sticky, two, a cancel", Sessions: two, Sticky: all, Arrive: second, Bounds: Bounds{Cancels: 1}},
	{Name: "sticky, one transaction", Sessions: three, Sticky: all, Arrive: third, Prompt: true},
}

// smallCohorts are the plans of every test run with cohorts.
var smallCohorts = []Plan{
	{Name: "a cohort, three", Sessions: three, Cohort: cohort, Prompt: true},
	{Name: "a cohort, every order", Sessions: two, Cohort: cohort, Bounds: Bounds{Slow: Always}},
	{Name: "a cohort and another session", Sessions: twoOne, Cohort: cohort, Prompt: true},
	{Name: "a cohort behind another session", Sessions: oneTwo, Cohort: cohort, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "a cohort, a cut", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "a cohort, a cut, late", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Cuts: 1, Late: 1}},
	{Name: "a cohort, a cancel", Sessions: three, Cohort: cohort, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "a cohort, a stop", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "a cohort, an operator", Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Breaks: 1}},
	{Name: "a cohort, an operator, polls", Sessions: two, Cohort: longCohort, Prompt: true, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "a cohort, a lapse", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Lapses: 1, Slow: 1}},
	{Name: "a cohort, an expiry", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a cohort that is wanted back", Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Asks: 1, Revokes: 1}},
	{Name: "a cohort that sticks", Sessions: three, Cohort: cohort, Sticky: all, Arrive: third, Prompt: true},
	{Name: "a cohort and one without", Sessions: three, Cohort: [maxActors]int{0: 2, 1: 2}, Prompt: true},
	{Name: "a cohort, only trying", Sessions: two, Cohort: cohort, Try: second, Prompt: true},
	{Name: "a cohort that is described", Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Looks: 2}},
	{Name: "a cohort that is described, every order", Sessions: two, Cohort: cohort,
		Bounds: Bounds{Looks: 2, Slow: Always}},
	{Name: "a cohort that is described, a cut", Sessions: two, Cohort: cohort, Prompt: true,
		Bounds: Bounds{Looks: 2, Cuts: 1}},
	{Name: "a cohort that is described and wanted back", Sessions: two, Cohort: longCohort, Prompt: true,
		Bounds: Bounds{Looks: 2, Asks: 1}},
	{Name: "a cohort that is described, an operator", Sessions: two, Cohort: longCohort, Prompt: true,
		Bounds: Bounds{Looks: 2, Breaks: 1}},
	{Name: "a cohort that sticks and is described", Sessions: two, Cohort: cohort, Sticky: all, Prompt: true,
		Bounds: Bounds{Looks: 2}},
}

// largeCohorts are the plans of `make walk`.
var largeCohorts = []Plan{
	{Name: "a cohort, a cut, slow", Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Cuts: 1, Slow: 1}},
	{Name: "a cohort, an operator, apart", Sessions: twoOne, Cohort: longCohort, Prompt: true, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "a cohort, a cut, slow and late", Sessions: two, Cohort: cohort, Prompt: true,
		Bounds: Bounds{Cuts: 1, Slow: 2, Late: 1}},
	{Name: "a cohort that is described, slow", Sessions: three, Cohort: longCohort, Prompt: true,
		Bounds: Bounds{Looks: 3, Slow: 1}},
	{Name: "a cohort that is described, all that may befall it", Sessions: two, Cohort: cohort, Prompt: true,
		Bounds: Bounds{Looks: 2, Cuts: 1, Asks: 1, Breaks: 1}},
	{Name: "a cohort that is described, a cut and somebody wants it", Sessions: two, Cohort: cohort, Prompt: true,
		Bounds: Bounds{Looks: 3, Cuts: 1, Asks: 1}},
	{Name: "a cohort that is described, a cut and an operator", Sessions: two, Cohort: cohort, Prompt: true,
		Bounds: Bounds{Looks: 3, Cuts: 1, Breaks: 1}},
	{Name: "a cohort that is described, somebody wants it and an operator", Sessions: two, Cohort: cohort, Prompt: true,
		Bounds: Bounds{Looks: 3, Asks: 1, Breaks: 1}},
	{Name: "a cohort that is described, apart", Sessions: twoOne, Cohort: cohort, Prompt: true, Bounds: Bounds{Looks: 2}},
	{Name: "a cohort that sticks and is described, three", Sessions: three, Cohort: cohort, Sticky: all, Arrive: third,
		Prompt: true, Bounds: Bounds{Looks: 2}},
}

// largeSticky are the plans of `make walk`.
var largeSticky = []Plan{
	{Name: "sticky, apart, a cut", Sessions: apart, Sticky: all, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three, a release", Sessions: twoOne, Sticky: firstTwo, Arrive: second, Prompt: true,
		Bounds: Bounds{Releases: 1}},
	{Name: "sticky, apart, a cut and a lag", Sessions: apart, Sticky: all, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "sticky, apart, cuts on both sides", Sessions: apart, Sticky: all, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, one transaction, a late order", Sessions: three, Sticky: all, Arrive: third, Prompt: true,
		Bounds: Bounds{Late: 1}},
	{Name: "sticky, two, a cut", Sessions: two, Sticky: all, Arrive: second, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, two, a cut, slow", Sessions: two, Sticky: all, Arrive: second, Prompt: true,
		Bounds: Bounds{Cuts: 1, Slow: 1}},
	{Name: "sticky, two, a cut, late", Sessions: two, Sticky: all, Arrive: second, Prompt: true,
		Bounds: Bounds{Cuts: 1, Late: 1}},
	{Name: "sticky, two, an expiry", Sessions: two, Sticky: all, Arrive: second, Prompt: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "sticky, two, a close", Sessions: two, Sticky: all, Arrive: second, Prompt: true,
		Bounds: Bounds{Closes: 1, Late: 1}},
	{Name: "sticky, three, a cut", Sessions: twoOne, Sticky: firstTwo, Arrive: second, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three, a stop", Sessions: twoOne, Sticky: firstTwo, Arrive: second, Prompt: true,
		Bounds: Bounds{Stops: 1}},
	{Name: "sticky, three, an operator", Sessions: twoOne, Sticky: firstTwo, Arrive: second, Prompt: true,
		Bounds: Bounds{Breaks: 1}},
	{Name: "sticky, one transaction, a cut", Sessions: two, Sticky: all, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, one transaction, late orders", Sessions: three, Sticky: all, Arrive: third, Prompt: true,
		Bounds: Bounds{Late: 2}},
}
