package walk

import (
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// Mistakes that plans with calls find: at the boundary of turns, and in the source, where it takes what is below to break a
// rule. Package turns has a list of its own.

// turnsFolder has the source of turns.
const turnsFolder = "actors/turns"

// turnsHear changes what turns are told.
func turnsHear(what input, change func(w *world, s int, in told) []told) Mistake {
	return Mistake{TurnsHear: func(w *world, s int, in told) []told {
		if in.what != what {
			return []told{in}
		}
		return change(w, s, in)
	}}
}

// turnsDoNotHear drops an input.
func turnsDoNotHear(what input) Mistake {
	return turnsHear(what, func(*world, int, told) []told { return nil })
}

// turnsDecide changes an output.
func turnsDecide(what turns.Do, change func(o turns.Output) []turns.Output) Mistake {
	return Mistake{TurnsDecide: func(_ *world, _ int, all []turns.Output) (made []turns.Output) {
		for _, o := range all {
			if o.Do == what {
				made = append(made, change(o)...)
			} else {
				made = append(made, o)
			}
		}
		return made
	}}
}

func drop(turns.Output) []turns.Output     { return nil }
func double(o turns.Output) []turns.Output { return []turns.Output{o, o} }

var (
	allPlaces = turnsHear(inHeld, func(_ *world, _ int, in told) []told {
		in.held.Places = messages.MaxPlace
		return []told{in}
	})
	// anyTerm has turns read a lease that is over as if it went on.
	anyTerm = turnsHear(inGiveBack, func(w *world, s int, in told) []told {
		for i, of := range w.plan.Sessions {
			if a := &w.actors[i]; of == s && a.lives() && a.m.Holding() {
				in.lease = reading{a.held, a.term, true}
			}
		}
		return []told{in}
	})
	watchedAtOnce = turnsHear(inHeld, func(_ *world, _ int, in told) []told {
		return []told{in, {what: inWatched, at: in.at, lease: in.lease, hold: in.hold}}
	})
	tellsNoMore = turnsDecide(turns.Ask, func(o turns.Output) []turns.Output {
		o.Shared = false
		return []turns.Output{o}
	})
	tries = turnsDecide(turns.Ask, func(o turns.Output) []turns.Output {
		o.Try = true
		return []turns.Output{o}
	})
)

// The plans in which they are sought.
var (
	oneCohort  = Plan{Sessions: three, Calls: times(3, forLong)}
	oneKept    = Plan{Sessions: twoOne, Calls: times(2, sticks), Arrive: third, Bounds: Bounds{Ticks: 2}}
	aloneKept  = Plan{Sessions: two, Calls: times(2, sticks), Bounds: Bounds{Ticks: 2}}
	cutCohort  = Plan{Sessions: three, Calls: times(3, forLong), Bounds: Bounds{Cuts: 1}}
	askedCalls = Plan{Sessions: three, Calls: times(3, forLong), Bounds: Bounds{Asks: 1}}
)

func bounded(p Plan, b Bounds) Plan {
	p.Bounds = b
	return p
}

// aboveTurns are mistakes of which turns know nothing.
var aboveTurns = []seeded{
	{name: "give all places beside batch mates", mistake: allPlaces, plan: twoInABatch, breaks: CallTokens},
	{name: "go on with a lease that is over", mistake: anyTerm, plan: Plan{Sessions: single, LateAnswers: true, Calls: times(2, forLong), Bounds: Bounds{Lapses: 1, Slow: Always}}, breaks: GrantsAreSound},
	{name: "take a node for watched", mistake: watchedAtOnce, plan: Plan{Sessions: single, LateAnswers: true, Calls: times(2, forLong)}, breaks: GrantsAreSound},
	{name: "do not hear that it is watched", mistake: turnsDoNotHear(inWatched), plan: oneCohort, breaks: NoCallForgotten},
	{name: "do not hear of a suspension", mistake: turnsDoNotHear(inSuspended), plan: cutCohort, breaks: GrantsAreSound},
	{name: "do not hear that it is resumed", mistake: turnsDoNotHear(inResumed), plan: cutCohort, breaks: NoCallForgotten},
	{name: "do not hear of a loss", mistake: turnsDoNotHear(inLost), plan: bounded(oneCohort, Bounds{Breaks: 1}), breaks: GrantsAreSound},
	{name: "do not hear of a refusal", mistake: turnsDoNotHear(inRefused), plan: bounded(oneCohort, Bounds{Stops: 1}), breaks: NoCallForgotten},
	{name: "do not hear of the end", mistake: turnsDoNotHear(inGone), plan: oneCohort, breaks: NoCallForgotten},
	{name: "do not hear that somebody asks", mistake: turnsDoNotHear(inRevoke), plan: askedCalls, breaks: NoCallForgotten},
	{name: "do not hear of a contender", mistake: turnsDoNotHear(inContended), plan: oneKept, breaks: NoCallForgotten},
	{name: "do not hear that it is checked", mistake: turnsDoNotHear(inChecked), plan: aloneKept, breaks: NoCallForgotten},
	{name: "do not hear that time is over", mistake: turnsDoNotHear(inHoldTimer), plan: aloneKept, breaks: NoCallForgotten},
	{name: "do not begin", mistake: turnsDecide(turns.Ask, drop), plan: oneCohort, breaks: NoCallForgotten},
	{name: "begin two", mistake: turnsDecide(turns.Ask, double), plan: oneCohort, breaks: NoCallForgotten},
	{name: "do not cancel", mistake: turnsDecide(turns.Cancel, drop), plan: bounded(oneCohort, Bounds{Quits: 1}), breaks: NoCallForgotten},
	{name: "do not release", mistake: turnsDecide(turns.Release, drop), plan: oneCohort, breaks: NoCallForgotten},
	{name: "do not check", mistake: turnsDecide(turns.Check, drop), plan: aloneKept, breaks: NoCallForgotten},
	{name: "do not watch for contenders", mistake: turnsDecide(turns.WatchContention, drop), plan: oneKept, breaks: NoCallForgotten},
	{name: "start no timer", mistake: turnsDecide(turns.SetTimer, drop), plan: aloneKept, breaks: NoCallForgotten},
	{name: "grant twice", mistake: turnsDecide(turns.Grant, double), plan: oneCohort, breaks: CallNotices},
	{name: "tell nobody of the grant", mistake: turnsDecide(turns.Grant, drop), plan: oneCohort, breaks: NoCallForgotten},
	{name: "tell nobody of the loss", mistake: turnsDecide(turns.Tell, drop), plan: bounded(oneCohort, Bounds{Breaks: 1}), breaks: CallsExclude},
	{name: "tell nobody of the refusal", mistake: turnsDecide(turns.Refuse, drop), plan: bounded(oneCohort, Bounds{Stops: 1}), breaks: NoCallForgotten},
	{name: "begin what tells nothing more", mistake: tellsNoMore, plan: oneCohort, breaks: NoCallForgotten},
	{name: "begin what only tries", mistake: tries, plan: Plan{Sessions: twoOne, Calls: times(2, forLong)}, breaks: CallNotices},
}

// inTurns are mistakes in the source that it takes what is below to see.
var inTurns = []seeded{
	{name: "count batch mates of one queue only", source: []edit{
		{"r.node.batchMates = places[r.queue.path] > 1",
			"r.node.batchMates = places[r.queue.path] > 1 && slices.ContainsFunc(changes, func(o change) bool {\n" +
				"\t\t\t\treturn o.node == \"\" && o.request != r.id && c.requests[o.request].queue == r.queue\n\t\t\t})"}},
		plan: twoInABatch, breaks: PlacesAreOwn},
	{name: "keep a hold that somebody asks for", folder: turnsFolder, source: []edit{
		{"if h.phase == held || h.phase == kept || h.phase == spent {\n\t\t\tfor", "if h.phase == held || h.phase == spent {\n\t\t\tfor"}},
		plan: bounded(aloneKept, Bounds{Asks: 1}), breaks: GrantsAreSound},
	{name: "hold what was given back", folder: turnsFolder, source: []edit{
		{"if h == nil || h.phase != asked {\n\t\treturn", "if h == nil {\n\t\treturn"}},
		plan: Plan{Sessions: two, LateAnswers: true, Calls: times(2, Call{}), Bounds: Bounds{Quits: 1, Slow: Always}}, breaks: CallNotices},
	{name: "watch for contenders once", folder: turnsFolder, source: []edit{
		{"\tif h.rivals == alone {\n\t\t\tt.emit(Output{Do: WatchContention", "\tif false {\n\t\t\tt.emit(Output{Do: WatchContention"}},
		plan: Plan{Sessions: twoOne, Calls: times(1, sticks), Arrive: third, Spared: spareB, Bounds: Bounds{Cuts: 1}}, breaks: NoCallForgotten},
	{name: "do not ask again who has been lost", folder: turnsFolder, source: []edit{
		{"\t\tt.freeHold(h)\n\tdefault:\n", "\t\tt.freeHold(h)\n\t\treturn\n\tdefault:\n"}},
		plan: bounded(oneCohort, Bounds{Breaks: 1}), breaks: NoCallForgotten},
	{name: "believe that it is watched after a cut", folder: turnsFolder, source: []edit{
		{"\t\tif h.watch == watched {\n\t\t\th.watch = unwatched\n\t\t}\n", ""}},
		plan: Plan{Sessions: single, LateAnswers: true, Calls: times(3, forLong), Bounds: Bounds{Cuts: 1}}, breaks: GrantsAreSound},
}
