package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// Exclusive locks, readers and writers, and contests, under all that may befall them; and without the fast paths.

// small are the bounds of every test run.
var small = []Plan{
	{Name: "calm, one session, every order", Sessions: two, LateAnswers: true, Bounds: Bounds{Slow: Always, Polls: 1}},
	{Name: "a cut", Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a release and more", Sessions: two, Bounds: Bounds{Releases: 2, Timeouts: 1, Revokes: 1, Slow: 1}},
	{Name: "a cancel, every order", Sessions: apart, LateAnswers: true, Bounds: Bounds{Cancels: 1, Slow: Always}},
	{Name: "only trying", Sessions: two, LateAnswers: true, Try: all, Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "only trying, apart", Sessions: apart, Try: second, Bounds: Bounds{Cuts: 1}},
	{Name: "an actor stops", Sessions: two, Bounds: Bounds{Stops: 1, Cuts: 1}},
	{Name: "an actor stops, late orders", Sessions: two, LateAnswers: true, Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "an operator", Sessions: two, LateAnswers: true, Bounds: Bounds{Breaks: 1, Reaps: 1}},
	{Name: "an operator, apart", Sessions: apart, LateAnswers: true, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "closed", Sessions: apart, Down: true, Arrive: all, Spared: spareB,
		Bounds: Bounds{Closes: 1, Cuts: 1, Cancels: 1}},
	{Name: "alone, wanted to end", Sessions: single,
		Bounds: Bounds{Cuts: 1, Releases: 1, Cancels: 1, Timeouts: 1, Slow: 1}},
	{Name: "readers and a writer", Sessions: twoOne, LateAnswers: true, Modes: readReadWrite},
	{Name: "a writer and readers", Sessions: oneTwo, LateAnswers: true, Modes: writeReadRead},
	{Name: "a reader and a writer, every order", Sessions: apart, LateAnswers: true, Modes: readWrite, Bounds: Bounds{Slow: Always}},
	{Name: "a reader and a writer, a cut", Sessions: apart, LateAnswers: true, Modes: readWrite, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a reader and a writer, an operator", Sessions: apart, LateAnswers: true, Modes: readWrite, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "writers and a reader, a cancel", Sessions: twoOne, Modes: writeReadWrite, Bounds: Bounds{Cancels: 1}},
	{Name: "a writer and a reader, an expiry", Sessions: apart, Modes: writeReadRead, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a contest, every order", Sessions: apart, LateAnswers: true, Modes: contests, Bounds: Bounds{Slow: Always, Polls: 1}},
	{Name: "a contest, one session", Sessions: two, LateAnswers: true, Modes: contests, Bounds: Bounds{Slow: 1, Cancels: 1}},
	{Name: "a contest, three", Sessions: twoOne, Modes: contests, Bounds: Bounds{Cancels: 1}},
	{Name: "a contest, a cut", Sessions: apart, Modes: contests, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a contest, an expiry", Sessions: apart, Modes: contests, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a contest, only trying", Sessions: two, LateAnswers: true, Modes: contests, Try: all, Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "a contest, an operator, one session", Sessions: two, Modes: contests, Bounds: Bounds{Breaks: 1}},
	{Name: "a contest alone, an operator and a cut", Sessions: single, Modes: contests,
		Bounds: Bounds{Breaks: 1, Cuts: 1}},
	{Name: "a contest, an operator", Sessions: apart, Modes: contests, Bounds: Bounds{Breaks: 1, Closes: 1}},
	{Name: "alone, an operator and a close", Sessions: single,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Closes: 1, Revokes: 2}},
	{Name: "three, a cancel", Sessions: twoOne, LateAnswers: true, Bounds: Bounds{Cancels: 1}},
	{Name: "three, two cuts", Sessions: oneTwo, Spared: spareB, Bounds: Bounds{Cuts: 2, Lapses: 1}},
	{Name: "apart, all that may befall a session", Sessions: apart, Spared: spareB,
		Bounds: Bounds{Cuts: 2, Lags: 1, Expiries: 1, Lapses: 1}},
	{Name: "an operator, lapses, revoked", Sessions: apart, Spared: spareB,
		Bounds: Bounds{Breaks: 1, Lapses: 1, Revokes: 1, Silences: 1}},
	{Name: "alone, much, and silence", Sessions: single,
		Bounds: Bounds{Cuts: 1, Expiries: 1, Lapses: 1, Revokes: 1, Cancels: 1, Silences: 1}},
	{Name: "alone, not there yet", Sessions: single, LateAnswers: true, Down: true, Arrive: all,
		Bounds: Bounds{Cuts: 2, Cancels: 1, Expiries: 1, Releases: 1, Late: 1}},
	{Name: "a contest, a cut and commands, apart", Sessions: apart, Modes: contests,
		Bounds: Bounds{Cuts: 1, Releases: 1, Timeouts: 1}},
}

// large are the bounds of `make walk`.
var large = []Plan{
	{Name: "a contest, an operator and a cut, one session", Sessions: two, Modes: contests, Spared: spareB,
		Bounds: Bounds{Breaks: 1, Cuts: 1}},
	{Name: "an expiry, three", Sessions: oneTwo, Spared: spareB, Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "alone, two cuts, slow and late", Sessions: single,
		Bounds: Bounds{Cuts: 2, Releases: 1, Cancels: 1, Late: 1, Slow: 1}},
	{Name: "alone, two cuts, an expiry", Sessions: single, Bounds: Bounds{Cuts: 2, Expiries: 1, Lapses: 1, Slow: 2}},
	{Name: "alone, two sessions lost, a stop", Sessions: single,
		Bounds: Bounds{Cuts: 2, Expiries: 2, Late: 1, Stops: 1}},
	{Name: "alone, an operator, two cuts", Sessions: single,
		Bounds: Bounds{Cuts: 2, Breaks: 1, Silences: 1, Slow: 1, Late: 1}},
	{Name: "alone, every order", Sessions: single, LateAnswers: true, Bounds: Bounds{Cuts: 2, Lapses: 1, Silences: 1, Slow: Always}},
	{Name: "apart, a cut, every order", Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{Cuts: 1, Silences: 1, Slow: Always}},
	{Name: "apart, an expiry, every order", Sessions: apart, LateAnswers: true, Bounds: Bounds{Expiries: 1, Lapses: 1, Slow: Always}},
	{Name: "apart, an operator and a cut", Sessions: apart, Bounds: Bounds{Cuts: 1, Breaks: 1, Lapses: 1, Reaps: 1}},
	{Name: "one session, a cut and a stop", Sessions: two, Bounds: Bounds{Cuts: 1, Stops: 1, Late: 1}},
	{Name: "one session, a cut, every order", Sessions: two, LateAnswers: true, Bounds: Bounds{Cuts: 1, Slow: Always}},
	{Name: "one session, an operator and a cut", Sessions: two,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Reaps: 1, Silences: 1}},
	{Name: "three, every order", Sessions: twoOne, LateAnswers: true, Bounds: Bounds{Slow: Always}},
	{Name: "three, a cut and a cancel", Sessions: twoOne, Spared: spareB, Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "three, a cut and an expiry", Sessions: twoOne, Spared: spareB, Bounds: Bounds{Cuts: 1, Expiries: 1}},
	{Name: "three, a cut and a stop", Sessions: twoOne, Spared: spareB, Bounds: Bounds{Cuts: 1, Stops: 1}},
	{Name: "three, an operator, twice", Sessions: twoOne, Bounds: Bounds{Breaks: 2}},
	{Name: "a writer and readers, an expiry", Sessions: oneTwo, Modes: writeReadRead, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
}

// The promises do not depend on a fast path: the plans of this file are walked with each of them switched off.

// without gives plans with each of the fast paths switched off.
func without(plans []Plan) (all []Plan) {
	for i, name := range coordinator.FastPaths() {
		for _, plan := range plans {
			plan.Name = "without " + name + ": " + plan.Name
			plan.Without = 1 << i
			all = append(all, plan)
		}
	}
	return all
}

// smallWithout are the plans of every test run with each fast path switched off.
var smallWithout = []Plan{
	{Name: "a cancel, three", Sessions: twoOne, Bounds: Bounds{Cancels: 1}},
	{Name: "one session, an operator", Sessions: two, Bounds: Bounds{Breaks: 1, Polls: 1, Stops: 1}},
}

// largeWithout are the plans of `make walk`.
var largeWithout = []Plan{
	{Name: "calm, three", Sessions: twoOne, LateAnswers: true},
	{Name: "a cut, one session", Sessions: two, Bounds: Bounds{Cuts: 1}},
	{Name: "a cut, three", Sessions: twoOne, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "an expiry, three", Sessions: oneTwo, Spared: spareB, Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "an operator, three", Sessions: twoOne, Bounds: Bounds{Breaks: 1}},
}
