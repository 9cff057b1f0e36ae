package walk

import "github.com/turnstile-locks/turnstile/messages"

// Sessions whose nodes are bounded.
var (
	four       = []int{0, 0, 0, 0}
	lastOther  = []int{0, 0, 0, 1}
	alternate  = [maxActors]int{0, 1, 0, 1}
	inSecond   = [maxActors]int{2: 1, 3: 1}
	twoWant    = [maxActors]int{1: 1, 3: 3} // the second within the first, the fourth within the third
	acrossBoth = [maxActors]int{0, 1, 0, 1}
	lastTries  = [maxActors]bool{2: true}
	threeRead  = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Read, messages.Read}
	inThird    = [maxActors]int{0, 1, 1}
	ownersTwo  = [maxActors]int{1, 2, 1}
)

// smallAdmission are the plans of every test run in which requests wait inside their session.
var smallAdmission = []Plan{
	{Name: "one waits, every order", Sessions: three, Waiting: 1, Bounds: Bounds{Slow: Always}},
	{Name: "one waits, four", Sessions: four, Waiting: 1, Prompt: true, InTurn: true},
	{Name: "two wait, four", Sessions: four, Waiting: 2, Prompt: true, InTurn: true},
	{Name: "one waits, another session", Sessions: lastOther, Waiting: 1, Prompt: true, InTurn: true},
	{Name: "one waits, a cancel", Sessions: three, Waiting: 1, Prompt: true, InTurn: true, Bounds: Bounds{Cancels: 2}},
	{Name: "one waits, a cancel, slow", Sessions: three, Waiting: 1, Prompt: true, Bounds: Bounds{Cancels: 1, Slow: 1}},
	{Name: "one waits, a stop", Sessions: three, Waiting: 1, Prompt: true, InTurn: true, Bounds: Bounds{Stops: 2}},
	{Name: "one waits, a cut", Sessions: three, Waiting: 1, Prompt: true, InTurn: true, Bounds: Bounds{Cuts: 1}},
	{Name: "one waits, a lapse", Sessions: three, Waiting: 1, Prompt: true, Bounds: Bounds{Lapses: 1}},
	{Name: "one waits, an expiry", Sessions: three, Waiting: 1, Prompt: true, InTurn: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "one waits, an operator", Sessions: three, Waiting: 1, Prompt: true, InTurn: true, Bounds: Bounds{Breaks: 1}},
	{Name: "one waits, a late order", Sessions: three, Waiting: 1, Prompt: true, Bounds: Bounds{Late: 1, Polls: 1}},
	{Name: "one waits, the last tries", Sessions: three, Waiting: 1, Try: lastTries, Prompt: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "one waits, readers", Sessions: four, Modes: threeRead, Waiting: 1, Prompt: true},
	{Name: "one waits, readers try", Sessions: three, Modes: readers, Waiting: 1, Try: all, Bounds: Bounds{Cancels: 1}},
	{Name: "one waits, readers of a cohort", Sessions: three, Modes: readers, Cohort: cohort, Waiting: 1, Nodes: 1,
		Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "one waits, a cohort", Sessions: four, Cohort: cohort, Waiting: 1, Nodes: 1, Prompt: true},
	{Name: "one waits, permits", Sessions: three, Modes: semaphores, Permits: 2, Waiting: 1, Prompt: true},
	{Name: "one waits, owners", Sessions: three, Owners: ownersTwo, Reentry: all, Waiting: 1, Prompt: true},
	{Name: "one waits, a downgrade", Sessions: three, Modes: writeThenRead, Owners: oneOwner, Arrive: secondLater,
		Waiting: 1, Nodes: 1, Prompt: true},
	{Name: "one waits, a contest", Sessions: three, Modes: contests, Waiting: 1, Prompt: true},
	{Name: "one waits, sticky", Sessions: three, Sticky: all, Arrive: thirdLater, Waiting: 1, Nodes: 2, Prompt: true},
	{Name: "room for two, four", Sessions: four, Nodes: 2, Prompt: true, InTurn: true},
	{Name: "room for two, two paths", Sessions: four, Paths: alternate, Nodes: 2, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "room for two, two paths, a cut", Sessions: three, Paths: inSecond, Nodes: 2, Prompt: true,
		Bounds: Bounds{Cuts: 1}},
	{Name: "room for two, an expiry", Sessions: three, Paths: inSecond, Nodes: 2, Prompt: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "room for one, an unknown delete", Sessions: two, Nodes: 1, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Cuts: 1, Cancels: 1, Stops: 1}},
	{Name: "room for one, retained", Sessions: two, Paths: alternate, Sticky: all, Arrive: secondLater, Nodes: 1,
		Bounds: Bounds{Slow: 1}},
	{Name: "room for one, retained, a cut", Sessions: two, Paths: alternate, Sticky: all, Arrive: secondLater, Nodes: 1,
		Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "room for two, retained and more", Sessions: three, Paths: inThird, Sticky: [maxActors]bool{true},
		Arrive: notFirst, Nodes: 2, Prompt: true},
	{Name: "all over both", Sessions: four, Paths: acrossBoth, Within: twoWant, Nodes: 2, Prompt: true},
	{Name: "all over both, one waits", Sessions: four, Paths: acrossBoth, Within: twoWant, Nodes: 3, Waiting: 1,
		Prompt: true, Bounds: Bounds{Cancels: 1}},
}

// largeAdmission are the plans of `make walk`.
var largeAdmission = []Plan{
	{Name: "one waits, four, every order", Sessions: four, Waiting: 1, Bounds: Bounds{Slow: Always}},
	{Name: "one waits, permits, a cancel", Sessions: three, Modes: semaphores, Permits: 2, Waiting: 1, Prompt: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "room for two, an unknown delete", Sessions: three, Nodes: 2, Arrive: thirdLater, Prompt: true,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "room for two, retained and more, four", Sessions: four, Paths: [maxActors]int{0, 1, 1, 1},
		Sticky: [maxActors]bool{true}, Arrive: notFirst, Nodes: 2, Prompt: true},
	{Name: "one waits, a cut and a cancel", Sessions: three, Waiting: 1, Prompt: true, Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "one waits, a cut and an expiry, four", Sessions: four, Waiting: 1, Prompt: true, InTurn: true,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "two wait, a cut, four", Sessions: four, Waiting: 2, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "two wait, four and another session's", Sessions: lastOther, Waiting: 2, Prompt: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "room for two, two paths, a cut and a cancel", Sessions: four, Paths: alternate, Nodes: 2, Prompt: true,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "room for two, two paths, all that may befall a session", Sessions: three, Paths: inSecond, Nodes: 2, Prompt: true,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "room for two, two paths, every answer late", Sessions: three, Paths: inSecond, Nodes: 2,
		Bounds: Bounds{Cuts: 1, Stops: 1}},
	{Name: "room for two, two paths, slow and late", Sessions: three, Paths: inSecond, Nodes: 2, Prompt: true,
		Bounds: Bounds{Cuts: 1, Slow: 1, Late: 1}},
	{Name: "all over both, a cut", Sessions: four, Paths: acrossBoth, Within: twoWant, Nodes: 2, Prompt: true,
		Bounds: Bounds{Cuts: 1}},
	{Name: "all over both, an expiry and a cancel", Sessions: four, Paths: acrossBoth, Within: twoWant, Nodes: 2, Waiting: 1,
		Prompt: true, Bounds: Bounds{Lapses: 1, Expiries: 1, Cancels: 1}},
	{Name: "room for one, retained, a cut and an operator", Sessions: two, Paths: alternate, Sticky: all, Arrive: secondLater,
		Nodes: 1, Prompt: true, Bounds: Bounds{Cuts: 1, Breaks: 1, Slow: 1}},
	{Name: "readers of a cohort, a cut", Sessions: three, Modes: readers, Cohort: cohort, Waiting: 1, Nodes: 1,
		Prompt: true, Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "a cohort inside, a cut", Sessions: three, Cohort: cohort, Waiting: 1, Nodes: 1, Prompt: true,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
}
