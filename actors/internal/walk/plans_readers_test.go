package walk

import "github.com/turnstile-locks/turnstile/messages"

// Readers that share a node, and writers, which do not.
var (
	readers            = [maxActors]messages.Mode{messages.Read, messages.Read, messages.Read, messages.Read}
	readWriteRead      = [maxActors]messages.Mode{messages.Read, messages.Write, messages.Read}
	readReadReadWrite  = [maxActors]messages.Mode{messages.Read, messages.Read, messages.Read, messages.Write}
	writeReadReadRead  = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Read, messages.Read}
	writeReadWriteRead = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Write, messages.Read}

	allButThird = [maxActors]int{0: 8, 1: 8}
	allButFirst = [maxActors]int{1: 8, 2: 8, 3: 8}
	twoButFirst = [maxActors]int{1: 2, 2: 2, 3: 2}
	allButLast  = [maxActors]int{8, 8, 8}
	firstThird  = [maxActors]int{0: 8, 2: 8}
	secondLast  = [maxActors]int{1: 8, 3: 8}

	threeOne    = []int{0, 0, 0, 1}
	oneThree    = []int{0, 1, 1, 1}
	secondThird = [maxActors]bool{1: true, 2: true}
	secondOwner = [maxActors]int{1: 1, 2: 1}
)

// smallReaders are the plans of every test run with readers that share a node.
var smallReaders = []Plan{
	{Name: "readers, every order", Sessions: two, Modes: readers, Cohort: longCohort, Bounds: Bounds{Slow: Always}},
	{Name: "readers, two by two", Sessions: []int{0, 0, 0, 0}, Modes: readers, Cohort: cohort, Prompt: true},
	{Name: "readers before a writer", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Arrive: secondLater, Bounds: Bounds{Slow: 1}},
	{Name: "readers behind a writer", Sessions: oneTwo, Modes: writeReadRead, Cohort: allButFirst},
	{Name: "readers behind a writer, two by two", Sessions: oneThree, Modes: writeReadReadRead,
		Cohort: twoButFirst, Prompt: true},
	{Name: "readers and a writer between, of one session", Sessions: three, Modes: readWriteRead, Cohort: firstThird,
		Arrive: secondThird, Prompt: true},
	{Name: "readers behind a writer, a cancel", Sessions: oneTwo, Modes: writeReadRead,
		Cohort: allButFirst, Prompt: true,
		Bounds: Bounds{Cancels: 1, Slow: 1}},
	{Name: "readers, a cut", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "readers, a cut, every answer late", Sessions: two, Modes: readers, Cohort: longCohort,
		Bounds: Bounds{Cuts: 1}},
	{Name: "readers, a stop", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Bounds: Bounds{Stops: 1}},
	{Name: "readers, a stop, late orders", Sessions: two, Modes: readers, Cohort: longCohort,
		Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "readers, an operator", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Bounds: Bounds{Breaks: 1}},
	{Name: "readers, an operator, late", Sessions: two, Modes: readers, Cohort: longCohort, Arrive: secondLater,
		Bounds: Bounds{Breaks: 1}},
	{Name: "readers, a lapse", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Spared: spareB, Bounds: Bounds{Lapses: 1}},
	{Name: "readers, an expiry", Sessions: two, Modes: readers, Cohort: longCohort, Prompt: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "readers, silence", Sessions: two, Modes: readers, Cohort: longCohort, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Silences: 1, Breaks: 1}},
	{Name: "readers that are wanted back", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Bounds: Bounds{Asks: 1, Revokes: 1}},
	{Name: "readers, only trying", Sessions: two, Modes: readers, Cohort: longCohort, Try: oneTry,
		Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "readers and one without a cohort", Sessions: three, Modes: readers, Cohort: allButThird, Prompt: true},
	{Name: "readers, a shared hold", Sessions: three, Modes: readers, Cohort: longCohort, Owners: secondOwner,
		Reentry: [maxActors]bool{1: true, 2: true}, Prompt: true},
	{Name: "readers, a downgrade", Sessions: three,
		Modes:  [maxActors]messages.Mode{messages.Write, messages.Read, messages.Read},
		Cohort: allButFirst, Owners: oneOwner, Arrive: secondThird, Prompt: true},
	{Name: "readers, closed", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true, Spared: spareB,
		Bounds: Bounds{Closes: 1}},
}

// largeReaders are the plans of `make walk`.
var largeReaders = []Plan{
	{Name: "readers, silence, slow", Sessions: two, Modes: readers, Cohort: longCohort, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Silences: 1, Breaks: 1, Slow: 1}},
	{Name: "readers, every order, three", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird,
		Bounds: Bounds{Slow: Always}},
	{Name: "three readers and a writer, a cut", Sessions: threeOne, Modes: readReadReadWrite,
		Cohort: allButLast, Prompt: true,
		Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "readers behind a writer, a cut", Sessions: oneTwo, Modes: writeReadRead, Cohort: allButFirst, Prompt: true,
		Bounds: Bounds{Cuts: 1}},
	{Name: "readers behind a writer, an operator", Sessions: oneTwo, Modes: writeReadRead,
		Cohort: allButFirst, Prompt: true,
		Bounds: Bounds{Breaks: 1, Cancels: 1}},
	{Name: "readers and writers by turns, of one session", Sessions: []int{1, 0, 0, 0},
		Modes: writeReadWriteRead, Cohort: secondLast,
		Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "readers, a cut and an expiry", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Spared: spareB, Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "readers, an operator and a stop", Sessions: twoOne, Modes: readReadWrite, Cohort: allButThird, Prompt: true,
		Bounds: Bounds{Breaks: 1, Stops: 1, Slow: 1}},
	{Name: "readers, a shared hold, a cut", Sessions: three, Modes: readers, Cohort: longCohort, Owners: secondOwner,
		Reentry: [maxActors]bool{1: true, 2: true}, Prompt: true, Bounds: Bounds{Cuts: 1}},
}
