package walk

import "github.com/turnstile-locks/turnstile/messages"

// The splits of contenders over sessions.
var (
	single = []int{0}
	two    = []int{0, 0}
	apart  = []int{0, 1}
	twoOne = []int{0, 0, 1}
	oneTwo = []int{0, 1, 1}
	spareB = [maxSessions]bool{1: true}
	all    = [maxActors]bool{true, true, true}
	oneTry = [maxActors]bool{1: true}
)

// Kinds of lock, for each contender.
var (
	readReadWrite  = [maxActors]messages.Mode{messages.Read, messages.Read, messages.Write}
	writeReadRead  = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Read}
	readWrite      = [maxActors]messages.Mode{messages.Read, messages.Write}
	contests       = [maxActors]messages.Mode{messages.Contest, messages.Contest, messages.Contest}
	writeReadWrite = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Write}
)

// Who comes later, and may find a retained node.
var (
	secondLater = [maxActors]bool{1: true}
	thirdLater  = [maxActors]bool{2: true}
	three       = []int{0, 0, 0}
	firstTwo    = [maxActors]bool{true, true}
)

// small are the bounds of every test run.
var small = []Plan{
	{Name: "calm, every order", Sessions: apart, Bounds: Bounds{Slow: Always}},
	{Name: "calm, one session, every order", Sessions: two, Bounds: Bounds{Slow: Always, Polls: 1}},
	{Name: "calm, three", Sessions: twoOne},
	{Name: "a cut", Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a cut, three", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a cut, one session", Sessions: two, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "a cut and an expiry", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "a release and more", Sessions: two, Prompt: true,
		Bounds: Bounds{Releases: 2, Timeouts: 1, Revokes: 1, Slow: 1}},
	{Name: "a cancel, every order", Sessions: apart, Bounds: Bounds{Cancels: 1, Slow: Always}},
	{Name: "a cancel, three", Sessions: twoOne, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "only trying", Sessions: two, Try: all, Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "only trying, apart", Sessions: apart, Try: oneTry, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "an actor stops", Sessions: two, Prompt: true, Bounds: Bounds{Stops: 1, Cuts: 1}},
	{Name: "an actor stops, late orders", Sessions: two, Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "an operator", Sessions: two, Bounds: Bounds{Breaks: 1, Reaps: 1}},
	{Name: "an operator, apart", Sessions: apart, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "an operator, lapses", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Breaks: 1, Lapses: 1, Silences: 1}},
	{Name: "closed", Sessions: apart, Prompt: true, Down: true, Arrive: all, Spared: spareB,
		Bounds: Bounds{Closes: 1, Cuts: 1, Cancels: 1}},
	{Name: "alone, much", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 1, Expiries: 1, Lapses: 1, Revokes: 1, Cancels: 1, Silences: 1}},
	{Name: "alone, wanted to end", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 1, Releases: 1, Cancels: 1, Timeouts: 1, Slow: 1}},
	{Name: "alone, a session that is not there yet", Sessions: single, Down: true, Arrive: all,
		Bounds: Bounds{Cuts: 1, Expiries: 1, Releases: 1, Late: 1}},
	{Name: "readers and a writer", Sessions: twoOne, Modes: readReadWrite},
	{Name: "a writer and readers", Sessions: oneTwo, Modes: writeReadRead},
	{Name: "a reader and a writer, every order", Sessions: apart, Modes: readWrite, Bounds: Bounds{Slow: Always}},
	{Name: "a reader and a writer, a cut", Sessions: apart, Modes: readWrite, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a reader and a writer, an operator", Sessions: apart, Modes: readWrite, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "writers and a reader, a cancel", Sessions: twoOne, Modes: writeReadWrite, Prompt: true,
		Bounds: Bounds{Cancels: 1}},
	{Name: "a writer and a reader, an expiry", Sessions: apart, Modes: writeReadRead, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a contest, every order", Sessions: apart, Modes: contests, Bounds: Bounds{Slow: Always, Polls: 1}},
	{Name: "a contest, one session", Sessions: two, Modes: contests, Bounds: Bounds{Slow: 1, Cancels: 1}},
	{Name: "a contest, three", Sessions: twoOne, Modes: contests, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "a contest, a cut", Sessions: apart, Modes: contests, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a contest, a cut and commands", Sessions: apart, Modes: contests, Prompt: true,
		Bounds: Bounds{Cuts: 1, Releases: 1, Timeouts: 1}},
	{Name: "a contest, an expiry", Sessions: apart, Modes: contests, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a contest, only trying", Sessions: two, Modes: contests, Try: all, Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "a contest, an operator", Sessions: apart, Modes: contests, Prompt: true, Bounds: Bounds{Breaks: 1, Closes: 1}},
	{Name: "alone, an operator and a close", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Closes: 1, Revokes: 2}},
}

// large are the bounds of `make walk`.
var large = []Plan{
	{Name: "an expiry, three", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "alone, two cuts, slow and late", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Releases: 1, Cancels: 1, Late: 1, Slow: 1}},
	{Name: "alone, two cuts, an expiry", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Expiries: 1, Lapses: 1, Slow: 2}},
	{Name: "alone, two sessions lost, a stop", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Expiries: 2, Late: 1, Stops: 1}},
	{Name: "alone, an operator, two cuts", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Breaks: 1, Silences: 1, Slow: 1, Late: 1}},
	{Name: "alone, every order", Sessions: single, Bounds: Bounds{Cuts: 2, Lapses: 1, Silences: 1, Slow: Always}},
	{Name: "alone, not there yet", Sessions: single, Down: true, Arrive: all,
		Bounds: Bounds{Cuts: 2, Cancels: 1, Expiries: 1, Releases: 1, Late: 1}},
	{Name: "apart, a cut, every order", Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 1, Silences: 1, Slow: Always}},
	{Name: "apart, an expiry, every order", Sessions: apart, Bounds: Bounds{Expiries: 1, Lapses: 1, Slow: Always}},
	{Name: "apart, all that may befall a session", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 2, Lags: 1, Expiries: 1, Lapses: 1}},
	{Name: "apart, an operator and a cut", Sessions: apart, Prompt: true,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Lapses: 1, Reaps: 1}},
	{Name: "one session, a cut and a stop", Sessions: two, Prompt: true,
		Bounds: Bounds{Cuts: 1, Stops: 1, Late: 1}},
	{Name: "one session, a cut, every order", Sessions: two, Bounds: Bounds{Cuts: 1, Slow: Always}},
	{Name: "one session, an operator and a cut", Sessions: two, Prompt: true,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Reaps: 1, Silences: 1}},
	{Name: "three, every order", Sessions: twoOne, Bounds: Bounds{Slow: Always}},
	{Name: "three, a cancel", Sessions: twoOne, Bounds: Bounds{Cancels: 1}},
	{Name: "three, a cut and a cancel", Sessions: twoOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "three, a cut and an expiry", Sessions: twoOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Expiries: 1}},
	{Name: "three, a cut and a stop", Sessions: twoOne, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1, Stops: 1}},
	{Name: "three, an operator, twice", Sessions: twoOne, Prompt: true, Bounds: Bounds{Breaks: 2}},
	{Name: "an operator, lapses, revoked", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Breaks: 1, Lapses: 1, Revokes: 1, Silences: 1}},
	{Name: "a writer and readers, an expiry", Sessions: oneTwo, Modes: writeReadRead, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "three, two cuts", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 2, Lapses: 1}},
}

// smallSticky are the plans of every test run with locks that stick.
var smallSticky = []Plan{
	{Name: "sticky, two", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Slow: Always}},
	{Name: "sticky, two, a cut, prompt", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true},
	{Name: "sticky, two, silence", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Silences: 1, Slow: 1}},
	{Name: "sticky, two, a stop", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "sticky, two, an operator", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Breaks: 1}},
	{Name: "sticky, two, a lapse", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Lapses: 1, Slow: 1}},
	{Name: "sticky, two, a cancel", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Cancels: 1}},
	{Name: "sticky, one transaction", Sessions: three, Sticky: all, Arrive: thirdLater, Prompt: true},
}

// How many grants in a row one node may serve: two, or all there are.
var (
	cohort     = [maxActors]int{2, 2, 2, 2}
	longCohort = [maxActors]int{8, 8, 8, 8}
)

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
	{Name: "a cohort that sticks", Sessions: three, Cohort: cohort, Sticky: all, Arrive: thirdLater, Prompt: true},
	{Name: "a cohort and one without", Sessions: three, Cohort: [maxActors]int{0: 2, 1: 2}, Prompt: true},
	{Name: "a cohort, only trying", Sessions: two, Cohort: cohort, Try: oneTry, Prompt: true},
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
	{Name: "a cohort that sticks and is described, three", Sessions: three, Cohort: cohort, Sticky: all, Arrive: thirdLater,
		Prompt: true, Bounds: Bounds{Looks: 2}},
}

// largeSticky are the plans of `make walk`.
var largeSticky = []Plan{
	{Name: "sticky, apart, a cut", Sessions: apart, Sticky: all, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three, a release", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Releases: 1}},
	{Name: "sticky, apart, a cut and a lag", Sessions: apart, Sticky: all, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "sticky, apart, cuts on both sides", Sessions: apart, Sticky: all, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, one transaction, a late order", Sessions: three, Sticky: all, Arrive: thirdLater, Prompt: true,
		Bounds: Bounds{Late: 1}},
	{Name: "sticky, two, a cut", Sessions: two, Sticky: all, Arrive: secondLater, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, two, a cut, slow", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Cuts: 1, Slow: 1}},
	{Name: "sticky, two, a cut, late", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Cuts: 1, Late: 1}},
	{Name: "sticky, two, an expiry", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "sticky, two, a close", Sessions: two, Sticky: all, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Closes: 1, Late: 1}},
	{Name: "sticky, three, a cut", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, three, a stop", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Stops: 1}},
	{Name: "sticky, three, an operator", Sessions: twoOne, Sticky: firstTwo, Arrive: secondLater, Prompt: true,
		Bounds: Bounds{Breaks: 1}},
	{Name: "sticky, one transaction, a cut", Sessions: two, Sticky: all, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "sticky, one transaction, late orders", Sessions: three, Sticky: all, Arrive: thirdLater, Prompt: true,
		Bounds: Bounds{Late: 2}},
}
