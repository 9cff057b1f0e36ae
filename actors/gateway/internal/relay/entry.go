package relay

import (
	"reflect"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Lease tells for how long the lease of a grant still runs. epoch and term are the grant's, from
// messages.Held. It is zero, or less, when the lease is over, or has ever been since the grant.
type Lease interface {
	Left(epoch, term uint64) time.Duration
}

// phase is the phase of a request at the gateway.
type phase uint8

const (
	// waiting: it does not hold. Invariant: promised is zero.
	waiting phase = iota
	// holding: its lock actor has told Held, and the requester may rely on the lock until promised.
	holding
	// withdrawn: the requester has given it up, or all that was promised has run out. Nothing more is
	// promised.
	withdrawn
	// gone: its lock actor has ended; the end is kept for the requester.
	gone
)

// entry is one request at the gateway.
type entry struct {
	id       string
	from     messages.ActorID
	grace    time.Duration
	phase    phase
	held     bool // Held was told
	orphaned bool // no reply is wanted any more

	number   uint64  // newest sending
	received Instant // when it came

	// events has the events that the requester is not known to have taken in: from seen+1 to
	// newest.
	events               []told
	seen, newest, pushed uint64
	// trouble is the obstacle that keeps the servers from carrying the request out; toldTrouble is
	// the one that the requester was told last.
	trouble, toldTrouble string
	// waitsFor is the contender that the lock actor waits for; zero where it is unknown.
	// predecessor is the newest for the requester, toldPredecessor the number of the one that it
	// was sent last.
	waitsFor        messages.Contender
	predecessor     Predecessor
	toldPredecessor uint64

	grant       messages.Grant
	epoch, term uint64  // of the grant
	asks        Asks    // that were passed on to the lock actor
	promised    Instant // until when the requester may rely on the lock
	force       Instant // when the grace period is over; zero where none runs
	revoked     bool    // it is being taken by force, and the requester is to be told so
}

// told is an event; at is the deadline that it names, answers the ask that it answers, zero for none.
type told struct {
	notice  any
	at      Instant
	answers uint64
}

// heed forgets the events that the requester has taken in.
func (e *entry) heed(seen uint64) {
	if seen > e.seen && seen <= e.newest {
		e.events = e.events[seen-e.seen:]
		e.seen = seen
		e.pushed = max(e.pushed, seen)
	}
}

// obey passes the owner's wish on to the lock actor. Each sending repeats it, which changes nothing.
func (e *entry) obey(r Request) []Output {
	switch {
	case r.Wish == Revoke && e.phase < withdrawn:
		return []Output{Tell{e.id, &messages.Revoke{}}}
	case r.Wish == Release && e.phase < withdrawn:
		e.phase = withdrawn
		return []Output{Tell{e.id, &messages.Release{}}}
	case r.Wish == Cancel && e.phase < withdrawn:
		return e.giveUp(r.Reason)
	}
	return nil
}

// pass passes the asks of a hold's owner on to the lock actor, each once.
func (e *entry) pass(asks Asks) (out []Output) {
	for what, command := range [...]any{WatchContention: &messages.WatchContention{}, Check: &messages.Check{}} {
		if e.phase == holding && asks[what] > e.asks[what] {
			e.asks[what] = asks[what]
			out = append(out, Tell{e.id, command})
		}
	}
	return out
}

// giveUp gives the request up, or the lock back.
func (e *entry) giveUp(why messages.Reason) []Output {
	if e.phase >= withdrawn {
		return nil
	}
	e.phase = withdrawn
	return []Output{Tell{e.id, &messages.Cancel{Reason: why}}}
}

// revoke takes the lock by force.
func (e *entry) revoke() []Output {
	e.revoked = true
	return e.giveUp(messages.ReasonRevoked)
}

// told takes a notice of the lock actor.
func (e *entry) told(now Instant, notice any) {
	var deadline Instant
	switch n := notice.(type) {
	case *messages.Transition:
		e.grant = n.Grant
		if n.To == messages.StateCreating { // in another queue, or another session
			e.waitsFor = messages.Contender{}
		}
		if e.revoked && n.To == messages.StateReleasing {
			e.revoked = false
			forced := *n
			forced.On = "GraceOver" // as a lock actor says that keeps the grace period itself
			e.add(&forced, 0)
			e.add(&messages.Revoked{Grant: e.grant}, 0)
			return
		}
	case *messages.Held:
		e.grant, e.epoch, e.term, e.held = n.Grant, n.Epoch, n.Term, true
		if e.phase == waiting {
			e.phase = holding
		}
	case *messages.RevokeRequested:
		if e.grace > 0 && e.force == 0 {
			e.force = now.plus(e.grace)
		}
		deadline = e.force
	}
	if to, _ := messages.EndOf(notice); to.Terminal() {
		e.phase = gone
	}
	e.add(notice, deadline)
}

// waitFor notes the contender that the lock actor waits for. A lock actor that looks again names
// the node alone first, and its data later. A node alone does not replace data that are known.
func (e *entry) waitFor(c messages.Contender) {
	known := e.waitsFor.Node == c.Node && c.Host == "" && !c.Asked
	if !known {
		e.waitsFor = c
	}
}

// decidePredecessor sets the predecessor for the requester: none while no server answers, because
// the contender may be gone.
func (e *entry) decidePredecessor(answered bool) {
	now, said := messages.Contender{}, &e.predecessor
	if answered {
		now = e.waitsFor
	}
	same := now.Node == said.Contender.Node && (now.Node == "" || reflect.DeepEqual(now, said.Contender))
	if e.phase == waiting && !same {
		e.predecessor = Predecessor{Number: said.Number + 1, Contender: now}
	}
}

// hasUnsent reports whether something is to be sent to the requester.
func (e *entry) hasUnsent() bool {
	return e.newest > e.pushed || e.trouble != e.toldTrouble || e.phase == waiting && e.predecessor.Number > e.toldPredecessor
}

func (e *entry) add(notice any, at Instant) {
	ev := told{notice: notice, at: at}
	if what, is := answers(notice); is {
		ev.answers = e.asks[what]
	}
	e.newest++
	e.events = append(e.events, ev)
}

// promise gives for how long the requester's lease lasts from its newest sending, and notes it;
// zero where it has no lease.
func (e *entry) promise(now Instant, lease Lease) time.Duration {
	if e.phase != holding {
		return 0
	}
	until := now.plus(lease.Left(e.epoch, e.term))
	if e.force != 0 {
		until = min(until, max(e.force, e.promised)) // earlier promises stand
	}
	if until <= now {
		return 0
	}
	e.promised = max(e.promised, until)
	lasts := until.since(e.received)
	return lasts - lasts/margin
}
