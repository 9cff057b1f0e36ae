package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Mistakes at the boundary of a coordinator: what it says, or is told, is dropped, doubled or altered. What is altered
// is copied first: states share it.

// telling changes what requests are told; nil tells them nothing.
func telling(change func(w *world, s int, t coordinator.Tell) []coordinator.Tell) *Mistake {
	return &Mistake{Outputs: func(w *world, s int, out coordinator.Output) (all []coordinator.Output) {
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

// committing changes the transactions that are asked for; nil asks for none.
func committing(change func(w *world, q coordinator.Commit) *coordinator.Commit) *Mistake {
	return &Mistake{Outputs: func(w *world, _ int, out coordinator.Output) []coordinator.Output {
		ask, ok := out.(*coordinator.Ask)
		if !ok {
			return []coordinator.Output{out}
		}
		what, ok := ask.Query.(*coordinator.Commit)
		if !ok {
			return []coordinator.Output{out}
		}
		if what = change(w, *what); what == nil {
			return nil
		}
		return []coordinator.Output{&coordinator.Ask{ID: ask.ID, Query: what}}
	}}
}

// hearing changes what coordinators are told; nil tells them nothing.
func hearing[T coordinator.Input](change func(w *world, s int, in T) coordinator.Input) *Mistake {
	return &Mistake{Inputs: func(w *world, s int, in coordinator.Input) coordinator.Input {
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
}](change func(w *world, s int, a *T)) *Mistake {
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
func missing(kind coordinator.TimerKind) *Mistake {
	return hearing(func(w *world, s int, in coordinator.Fired) coordinator.Input {
		for timer, of := range w.sessions[s].decides.Timers {
			if timer == in.Timer && of == kind {
				return nil
			}
		}
		return in
	})
}

// server is a mistake of the servers.
func server(m ServerMistake) *Mistake { return &Mistake{Servers: m} }

func grantsByHandOver(t coordinator.Tell) bool {
	return t.Event.Kind == machine.TurnCame && t.Handoff.Local
}

var (
	skipSecondListing = telling(func(_ *world, _ int, t coordinator.Tell) []coordinator.Tell {
		if t.Event.Kind == machine.PredecessorGone {
			t.Event.Kind = machine.TurnCame
		}
		return []coordinator.Tell{t}
	})
	grantWithoutLease = &Mistake{At: func(at coordinator.At) coordinator.At {
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
	forgetEnded = hearing(func(*world, int, coordinator.Ended) coordinator.Input { return nil })
	// registerLate: the event comes while the answer to the Watch is under way, and nobody waits for it yet.
	registerLate = hearing(func(w *world, s int, in coordinator.Changed) coordinator.Input {
		for _, f := range w.sessions[s].flights {
			if q, ok := f.query.(*coordinator.Watch); ok && q.Path == in.Path {
				return nil
			}
		}
		return in
	})
	keepQuiet = telling(func(w *world, _ int, t coordinator.Tell) []coordinator.Tell {
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
	adoptAnothersContest = answering(func(w *world, s int, a *coordinator.Created) {
		if a.Existing != nil {
			one := *a.Existing
			one.Ours, one.GUID = true, guid(slices.Index(w.plan.Sessions, s))
			a.Existing = &one
		}
	})
	goOnRetaining = hearing(func(_ *world, _ int, in coordinator.Changed) coordinator.Input {
		if in.Change == coordinator.ChildrenChanged {
			return nil
		}
		return in
	})
	forgetRetained = committing(func(w *world, q coordinator.Commit) *coordinator.Commit {
		if len(q.Deletes) == 1 && len(q.Creates) == 0 && !slices.ContainsFunc(w.actors[:], func(a lockActor) bool {
			return a.lives() && a.m.Node == base(q.Deletes[0])
		}) {
			return nil
		}
		return &q
	})
	reuseUnchecked = answering(func(w *world, _ int, a *coordinator.Done) {
		if !w.beating {
			a.Failure = coordinator.Failure{}
		}
	})
	sameTokenTwice = telling(func(_ *world, _ int, t coordinator.Tell) []coordinator.Tell {
		if t.As != "" {
			t.Event.Token--
		}
		return []coordinator.Tell{t}
	})
	handOverPastNeighbour = telling(func(w *world, s int, t coordinator.Tell) []coordinator.Tell {
		if grantsByHandOver(t) {
			t.To, t.Event.Op = w.otherWaiter(s, t)
		}
		return []coordinator.Tell{t}
	})
	handOverTwice = telling(func(w *world, s int, t coordinator.Tell) []coordinator.Tell {
		if !grantsByHandOver(t) {
			return []coordinator.Tell{t}
		}
		other := t
		other.To, other.Event.Op = w.otherWaiter(s, t)
		return []coordinator.Tell{t, other}
	})
	deleteOneOfSeveral = committing(func(_ *world, q coordinator.Commit) *coordinator.Commit {
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
	trustOldArrivals = answering(func(_ *world, _ int, a *coordinator.Arrivals) { a.Alone = true })
)

// otherWaiter gives another request of a session that waits, and its operation; the one that is told, where none does.
func (w *world) otherWaiter(s int, t coordinator.Tell) (coordinator.RequestID, uint64) {
	for i, of := range w.plan.Sessions {
		if a := &w.actors[i]; of == s && i != int(t.To)-1 && a.m.State == messages.StateWatching && a.lives() {
			return coordinator.RequestID(i + 1), a.m.Op
		}
	}
	return t.To, t.Event.Op
}
