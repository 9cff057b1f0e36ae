package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Mistakes at the boundary of a coordinator: an input or an output is dropped, doubled or altered. An altered one is
// copied first, because states share it.

// telling changes what requests are told; nil tells them nothing.
func telling(change func(w *world, s int, t coordinator.Tell) []coordinator.Tell) Mistake {
	return Mistake{Outputs: func(w *world, s int, out coordinator.Output) (all []coordinator.Output) {
		tell, ok := out.(*coordinator.Tell)
		if !ok {
			return []coordinator.Output{out}
		}
		for _, t := range change(w, s, *tell) {
			all = append(all, &t)
		}
		return all
	}}
}

// asking changes what the servers are asked; nil asks nothing.
func asking[T any, Q interface {
	*T
	coordinator.Query
}](change func(w *world, q T) Q) Mistake {
	return Mistake{Outputs: func(w *world, _ int, out coordinator.Output) []coordinator.Output {
		ask, ok := out.(*coordinator.Ask)
		if !ok {
			return []coordinator.Output{out}
		}
		q, ok := ask.Query.(Q)
		if !ok {
			return []coordinator.Output{out}
		}
		if q = change(w, *q); q == nil {
			return nil
		}
		return []coordinator.Output{&coordinator.Ask{ID: ask.ID, Query: q}}
	}}
}

// hearing changes what coordinators are told; nil tells them nothing.
func hearing[T coordinator.Input](change func(w *world, s int, in T) coordinator.Input) Mistake {
	return Mistake{Inputs: func(w *world, s int, in coordinator.Input) coordinator.Input {
		if heard, ok := in.(T); ok {
			return change(w, s, heard)
		}
		return in
	}}
}

// answering changes the answers of the servers.
func answering[T any, A interface {
	*T
	coordinator.Answer
}](change func(w *world, s int, a *T)) Mistake {
	return hearing(func(w *world, s int, in *coordinator.Reply) coordinator.Input {
		a, ok := in.Answer.(A)
		if !ok {
			return in
		}
		answer := *a
		change(w, s, &answer)
		return &coordinator.Reply{ID: in.ID, Answer: A(&answer)}
	})
}

// missing drops the timers of a kind.
func missing(kind coordinator.TimerKind) Mistake {
	return hearing(func(w *world, s int, in coordinator.Fired) coordinator.Input {
		for timer, of := range w.sessions[s].decides.Timers {
			if timer == in.Timer && of == kind {
				return nil
			}
		}
		return in
	})
}

var (
	skipSecondListing = telling(func(_ *world, _ int, t coordinator.Tell) []coordinator.Tell {
		if t.Event.Kind == machine.PredecessorGone {
			t.Event.Kind = machine.TurnCame
		}
		return []coordinator.Tell{t}
	})
	grantWithoutLease = Mistake{At: func(at coordinator.At) coordinator.At {
		at.Lease.Valid = true
		return at
	}}
	forgetDelete = answering(func(_ *world, _ int, a *coordinator.Committed) {
		if a.Failure.Outcome == coordinator.Unknown {
			a.Failure = coordinator.Failure{}
		}
	})
	forgetCreate = answering(func(_ *world, _ int, a *coordinator.Created) {
		if a.Failure.Outcome == coordinator.Unknown {
			a.Failure.Outcome = coordinator.Refused
		}
	})
	sameToken   = answering(func(_ *world, _ int, a *coordinator.Reclaimable) { a.Token-- })
	laterToken  = answering(func(_ *world, _ int, a *coordinator.Reclaimable) { a.Token += 10 << 10 })
	forgetEnded = hearing(func(*world, int, coordinator.Ended) coordinator.Input { return nil })
	keepQuiet   = telling(func(w *world, _ int, t coordinator.Tell) []coordinator.Tell {
		ofConnection := t.Event.Kind == machine.Disconnected || t.Event.Kind == machine.Connected
		if ofConnection && w.actors[t.To-1].m.State == messages.StateWatching {
			return nil
		}
		return []coordinator.Tell{t}
	})
	oldOrders = hearing(func(_ *world, _ int, in *coordinator.Order) coordinator.Input {
		o := *in
		o.Epoch = 0
		return &o
	})
	readerBesideWriter = telling(func(w *world, _ int, t coordinator.Tell) []coordinator.Tell {
		t.Event.First = t.Event.First || t.Event.Kind == machine.Listed && w.plan.Modes[t.To-1] == messages.Read
		return []coordinator.Tell{t}
	})
	// writerBesideReader hides readers from sessions in which nobody reads.
	writerBesideReader = answering(func(w *world, s int, a *coordinator.Listed) {
		for i, of := range w.plan.Sessions {
			if a.View.Queue == nil || of == s && w.plan.Modes[i] == messages.Read {
				return
			}
		}
		a.View.Queue = queue.NewListing(slices.DeleteFunc(a.View.Queue.Names(), func(name string) bool {
			node, _ := queue.Parse(name)
			return node.Mode == messages.Read
		}), 0)
	})
	overlookArrivals = hearing(func(_ *world, _ int, in coordinator.Changed) coordinator.Input {
		if in.Change == coordinator.ChildrenChanged {
			return nil
		}
		return in
	})
	deleteOneOfSeveral = asking(func(_ *world, q coordinator.Commit) *coordinator.Commit {
		q.Deletes = q.Deletes[:min(len(q.Deletes), 1)]
		return &q
	})
	changesNeverSent = missing(coordinator.CreatesTimer)
	cleanUpOnce      = missing(coordinator.RetryTimer)
	onePermitMore    = answering(func(w *world, _ int, a *coordinator.Listed) {
		if a.View.Queue != nil {
			a.View.Queue = queue.NewListing(a.View.Queue.Names(), a.View.Permits+1)
		}
	})
	// watchTheGone leaves a watch on a node that is gone already, as exists() would.
	watchTheGone = answering(func(_ *world, _ int, a *coordinator.Read) {
		if a.Failure.Cause == coordinator.NoNode {
			a.Failure = coordinator.Failure{}
		}
	})
	tokenBySequence = answering(func(_ *world, _ int, a *coordinator.Created) {
		number, _ := queue.Sequence(a.Node.Name)
		a.Node.Czxid = int64(number) + 1
	})
	deleteRegardless = asking(func(_ *world, q coordinator.Commit) *coordinator.Commit {
		q.Exist = nil
		return &q
	})
	// leaveTheGuard leaves the guard of a node that is gone without the session's doing.
	leaveTheGuard = asking(func(w *world, q coordinator.RemoveContest) *coordinator.RemoveContest {
		if at := w.servers.at(oneName); at < 0 || w.servers.nodes[at].guard != base(q.Guard) {
			return nil
		}
		return &q
	})
	// removeByName removes the node of a contest of any maker.
	removeByName = asking(func(w *world, q coordinator.RemoveContest) *coordinator.RemoveContest {
		if at := w.servers.at(oneName); at >= 0 {
			q.Guard = lockPath + "/" + w.servers.nodes[at].guard
		}
		return &q
	})
)

// atBoundary are mistakes of which the coordinator knows nothing.
var atBoundary = []seeded{
	{name: "skip the second listing", mistake: skipSecondListing,
		plan: Plan{Sessions: twoOne, LateAnswers: true, Bounds: Bounds{Cancels: 1}}, breaks: InOrder},
	{name: "grant without a lease", mistake: grantWithoutLease,
		plan: Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Lapses: 1}}, breaks: Notices},
	{name: "verify without sync", mistake: Mistake{Unsynced: true},
		plan: Plan{Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1, Cancels: 1}}, breaks: NoOrphan},
	{name: "forget an unknown delete", mistake: forgetDelete,
		plan: Plan{Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{Cuts: 1}}, breaks: NoOrphan},
	{name: "forget an unknown create", mistake: forgetCreate,
		plan: Plan{Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{Cuts: 1}}, breaks: NoOrphan},
	{name: "forget an actor that stopped", mistake: forgetEnded,
		plan: Plan{Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{Stops: 1}}, breaks: NoOrphan},
	{name: "watch a node that is gone", mistake: watchTheGone,
		plan: Plan{Sessions: apart, LateAnswers: true}, breaks: NoLostWakeUp},
	{name: "keep quiet about a cut", mistake: keepQuiet,
		plan: Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Cuts: 1}}, breaks: NoLostWakeUp},
	{name: "carry out an old epoch's order", mistake: oldOrders,
		plan: Plan{Sessions: two, Bounds: Bounds{Cuts: 1, Expiries: 1, Late: 1}}, breaks: OneSession},
	{name: "expire before the lease is over", mistake: Mistake{EndsEarly: true},
		plan: Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Expiries: 1}}, breaks: Exclusion},
	{name: "keep the lease when the chain breaks", mistake: Mistake{Outlasts: true},
		plan: Plan{Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{GivesUp: 1, Expiries: 1}}, breaks: Exclusion},
	{name: "renew the lease of a session that has lapsed", mistake: Mistake{Revives: true},
		plan: Plan{Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{GivesUp: 1, Expiries: 1}}, breaks: Exclusion},
	{name: "token by sequence number", mistake: tokenBySequence,
		plan: Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Reaps: 1}}, breaks: TokensRise},
	{name: "let a reader in beside a writer", mistake: readerBesideWriter,
		plan: Plan{Sessions: apart, LateAnswers: true, Modes: writeReadRead}, breaks: InOrder},
	{name: "let a writer in beside a reader", mistake: writerBesideReader,
		plan: Plan{Sessions: apart, LateAnswers: true, Modes: readWrite, Crowded: true}, breaks: InOrder},
	{name: "delete the next one's node", mistake: deleteRegardless,
		plan: Plan{Sessions: twoOne, LateAnswers: true, Bounds: Bounds{Breaks: 1}}, breaks: Exclusion},
	{name: "take the end of what is reclaimed for the turn", mistake: skipSecondListing,
		plan: Plan{Sessions: apart, LateAnswers: true, Reclaim: first}, breaks: InOrder},
	{name: "reclaim with the token of before", mistake: sameToken,
		plan: Plan{Sessions: apart, LateAnswers: true, Reclaim: first}, breaks: TokensRise},
	{name: "reclaim with the token of the new node", mistake: laterToken,
		plan: Plan{Sessions: apart, LateAnswers: true, Reclaim: first}, breaks: TokensRise},
	{name: "remove a contest by its name", mistake: removeByName,
		plan: Plan{Sessions: apart, Modes: contests, Bounds: Bounds{Breaks: 1}}, breaks: Exclusion},

	{name: "leave the guard of a contest", mistake: leaveTheGuard,
		plan: Plan{Sessions: two, Modes: contests, Bounds: Bounds{Breaks: 1}}, breaks: NoOrphan},

	{name: "overlook who comes", mistake: overlookArrivals,
		plan: Plan{Sessions: apart, Arrive: second, Bounds: Bounds{Attends: 1}}, breaks: HoldersAreTold},

	{name: "delete one of several", mistake: deleteOneOfSeveral,
		plan: Plan{Sessions: three, Bounds: Bounds{Cancels: 2, Slow: 1}}, breaks: NoOrphan},
	{name: "do not send what is delayed", mistake: changesNeverSent, plan: oneBehindTwo, breaks: AllEnd},
	{name: "clean up once", mistake: cleanUpOnce,
		plan: Plan{Sessions: apart, Bounds: Bounds{Stops: 1, Cuts: 1}}, breaks: NoOrphan},
	{name: "one permit more", mistake: onePermitMore,
		plan: Plan{Sessions: apart, LateAnswers: true, Modes: semaphores, Permits: 1}, breaks: Exclusion},
}
