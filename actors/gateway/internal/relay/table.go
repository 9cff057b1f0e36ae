package relay

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Table has a gateway's requests. Make one with NewTable.
type Table struct {
	name     uint64
	patience time.Duration
	limits   Limits
	requests map[string]*entry
	ended    memory
	changed  []string // requests with events that have not been sent
	closing  bool
	// unanswered: no server answers the gateway's session.
	unanswered bool
}

// Limits bound the requests that a gateway keeps. A request that would be above them is refused;
// none is forgotten to make room.
type Limits struct {
	// Requests bounds the requests at a time.
	Requests int
	// Ended bounds the ended requests that are remembered, for each two patiences of the gateway.
	Ended int
}

// Usual gives the default limits. A request takes some kilobytes here and in its lock actor, an
// ended one some hundred bytes: with a patience of 10 s, 26 000 may end in a second.
func Usual() Limits { return Limits{Requests: 100_000, Ended: 1 << 19} }

// unseen bounds the events of a request that wait for the requester to take them in. A waiter has a
// few at a time, and each cut from the ensemble makes four more.
const unseen = 256

// NewTable makes the table of a gateway that gives up requests which are silent for the patience.
// The name, not zero, tells the gateway from an earlier one at its address, which had other lock
// actors.
func NewTable(name uint64, patience time.Duration, limits Limits) *Table {
	return &Table{name: name, patience: patience, limits: limits, requests: map[string]*entry{},
		ended: newMemory(2*patience, limits.Ended)}
}

// every is the time between sendings of a waiter: half of the patience, so that one sending may be
// lost.
func (t *Table) every() time.Duration { return t.patience / 2 }

// Size is the number of requests in the table.
func (t *Table) Size() int { return len(t.requests) }

// Remembered is the number of ended requests that the table remembers: at most twice Limits.Ended.
func (t *Table) Remembered() int { return len(t.ended.young) + len(t.ended.old) }

// Request takes a sending of a requester.
func (t *Table) Request(now Instant, lease Lease, from messages.ActorID, r Request) []Output {
	e := t.requests[r.ID]
	switch {
	case r.Gateway != 0 && r.Gateway != t.name:
		return t.unknown(from, r)
	case e == nil:
		return t.stranger(now, lease, from, r)
	}
	if r.Number > e.number {
		e.number, e.received, e.from = r.Number, now, from
	}
	e.heed(r.Seen)
	out := append(e.obey(r), e.pass(r.Asks)...)
	if r.Over {
		return append(out, t.over(now, e)...)
	}
	return append(out, t.reply(now, lease, e, e.seen))
}

// stranger takes a sending of a request that the table does not have.
func (t *Table) stranger(now Instant, lease Lease, from messages.ActorID, r Request) []Output {
	past := t.ended.has(r.ID)
	if r.Over || r.Wish >= Cancel {
		t.ended.add(now, r.ID) // a sending from before may come yet
	}
	switch {
	case r.Over:
		return nil
	case past || r.Want == nil || r.Wish >= Cancel:
		return t.unknown(from, r)
	case t.closing:
		return t.answer(from, r, Closing, "")
	case len(t.requests) >= t.limits.Requests:
		return t.answer(from, r, Full, fmt.Sprintf("it has %d requests", len(t.requests)))
	case !t.ended.room(now, len(t.requests)+1):
		return t.answer(from, r, Full, "too many requests have ended in a short time")
	}
	e := &entry{id: r.ID, from: from, grace: r.Want.Grace, number: r.Number, received: now}
	t.requests[r.ID] = e
	want := *r.Want
	want.Grace = 0
	return []Output{Spawn{ID: r.ID, From: from.Address, Want: want}, t.reply(now, lease, e, 0)}
}

// unknown answers that the request is not here, unless its requester has ended.
func (t *Table) unknown(to messages.ActorID, r Request) []Output {
	if r.Over {
		return nil
	}
	return t.answer(to, r, Unknown, "")
}

// answer answers a request that the table does not have.
func (t *Table) answer(to messages.ActorID, r Request, acceptance Acceptance, detail string) []Output {
	return []Output{Answer{To: to, Reply: Reply{ID: r.ID, Gateway: t.name, Acceptance: acceptance, Detail: detail,
		Number: r.Number}}}
}

// Refuse is the answer to a request that cannot be carried out.
func Refuse(id string, number uint64, why string) Reply {
	return Reply{ID: id, Acceptance: Refused, Number: number, Detail: why}
}

// over: the requester has ended, and wants no reply.
func (t *Table) over(now Instant, e *entry) []Output {
	e.orphaned = true
	if e.phase == gone {
		t.drop(now, e)
		return nil
	}
	return e.giveUp(messages.ReasonOwnerGone)
}

func (t *Table) drop(now Instant, e *entry) {
	delete(t.requests, e.id)
	t.ended.add(now, e.id)
}

// changing gives a request that is about to change, and has Flush look at it; nil for a request
// that is over.
func (t *Table) changing(id string) *entry {
	e := t.requests[id]
	if e == nil || e.phase == gone {
		return nil
	}
	if !e.hasUnsent() {
		t.changed = append(t.changed, id)
	}
	return e
}

// Told takes a notice of a request's lock actor. Flush sends it on.
func (t *Table) Told(now Instant, id string, notice any) {
	e := t.changing(id)
	if e == nil {
		return
	}
	e.told(now, notice)
	e.decidePredecessor(!t.unanswered)
	if e.phase == gone && e.orphaned {
		t.drop(now, e)
	}
}

// Troubled takes the obstacle that keeps the servers from carrying a request out; "" once there is
// none. Flush sends it on.
func (t *Table) Troubled(id, text string) {
	if e := t.changing(id); e != nil {
		e.trouble = text
	}
}

// WaitsFor takes the contender that the lock actor of a request waits for. Flush sends it on.
func (t *Table) WaitsFor(id string, predecessor messages.Contender) {
	if e := t.changing(id); e != nil {
		e.waitFor(predecessor)
		e.decidePredecessor(!t.unanswered)
	}
}

// Servers notes whether a server answers the gateway's session. Flush tells the waiters their
// predecessors if one does, and otherwise that these are unknown.
func (t *Table) Servers(answer bool) {
	if t.unanswered == !answer {
		return
	}
	t.unanswered = !answer
	for id := range t.requests {
		if e := t.changing(id); e != nil {
			e.decidePredecessor(answer)
		}
	}
}

// Ended: the lock actor of a request has ended. Where it has not told so, it was
// stopped from outside.
func (t *Table) Ended(now Instant, id string) {
	e := t.requests[id]
	if e == nil || e.phase == gone {
		return
	}
	if e.held {
		t.Told(now, id, &messages.Lost{Grant: e.grant, Reason: messages.ReasonStopped})
		return
	}
	t.Told(now, id, &messages.Failed{Grant: e.grant, Reason: messages.ReasonStopped})
}

// Flush sends the changes since the last Flush to the requesters.
func (t *Table) Flush(now Instant, lease Lease) []Output {
	var out []Output
	for _, id := range t.changed {
		if e := t.requests[id]; e != nil && e.hasUnsent() {
			out = append(out, t.reply(now, lease, e, max(e.seen, e.pushed)))
		}
	}
	t.changed = t.changed[:0]
	return out
}

// Sweep gives up the requests of silent requesters, drops those of them that have ended, and takes
// revoked locks by force when their grace period is over. Call it a few times in each patience.
func (t *Table) Sweep(now Instant) []Output {
	t.ended.rotate(now)
	var out []Output
	for _, e := range t.requests {
		silent := t.silent(now, e)
		switch {
		case now < e.promised:
		case silent && e.phase == gone:
			t.drop(now, e)
		case silent:
			out = append(out, e.giveUp(messages.ReasonOwnerGone)...)
		case e.force != 0 && now >= e.force && e.phase == holding:
			out = append(out, e.revoke()...)
		}
	}
	return out
}

// silent reports whether a requester is taken for dead: nothing was heard of it for the patience of the
// gateway, or it sends and takes nothing in.
func (t *Table) silent(now Instant, e *entry) bool {
	return now >= e.received.plus(t.patience) || len(e.events) > unseen
}

// Close begins the end of the gateway: it takes no more requests, promises nothing more, and gives
// up the requests that wait. Closed tells when nothing is promised any more.
func (t *Table) Close() []Output {
	t.closing = true
	var out []Output
	for _, e := range t.requests {
		if e.phase == waiting {
			out = append(out, e.giveUp(messages.ReasonSessionClosed)...)
		}
	}
	return out
}

// Closed reports whether the gateway is closing and has promised nothing that has not run out.
func (t *Table) Closed(now Instant) bool {
	for _, e := range t.requests {
		if now < e.promised && e.phase == holding {
			return false
		}
	}
	return t.closing
}

// Promised gives the requests that have been promised something that has not run out, and for how
// long.
func (t *Table) Promised(now Instant) map[string]time.Duration {
	all := map[string]time.Duration{}
	for id, e := range t.requests {
		if e.phase != gone {
			all[id] = 0
			if e.phase == holding {
				all[id] = max(0, e.promised.since(now))
			}
		}
	}
	return all
}

// reply makes the answer to a request, with the events after one.
func (t *Table) reply(now Instant, lease Lease, e *entry, after uint64) Output {
	r := Reply{ID: e.id, Gateway: t.name, Acceptance: Known, Detail: e.trouble, Number: e.number, Every: t.every(), First: after + 1}
	if !t.closing && !t.silent(now, e) { // an event renews no promise to a silent requester
		r.Lasts = e.promise(now, lease)
	}
	for _, ev := range e.events[after-e.seen:] {
		told := Event{Notice: ev.notice, Answers: ev.answers}
		if ev.at != 0 {
			told.In = max(1, ev.at.since(e.received))
		}
		r.Events = append(r.Events, told)
	}
	if e.phase == waiting && e.predecessor.Number > 0 {
		said := e.predecessor
		r.Predecessor = &said
	}
	e.pushed, e.toldTrouble, e.toldPredecessor = e.newest, e.trouble, e.predecessor.Number
	return Answer{To: e.from, Reply: r}
}

// memory holds the ids of requests that are over, so that a sending of theirs which was delayed does
// not begin them again. An id is remembered for at least keep, and no more than twice as long.
type memory struct {
	keep       time.Duration
	most       int // ids in each generation
	young, old map[string]struct{}
	rotated    Instant // when the younger generation began
	lost       Instant // until when an id that found no room would have to be remembered
}

func newMemory(keep time.Duration, most int) memory {
	return memory{keep: keep, most: most, young: map[string]struct{}{}}
}

// add remembers an id. If there is no room for it, room reports false until its delayed sendings
// must have arrived: before that, they cannot be told from new requests.
func (m *memory) add(now Instant, id string) {
	m.rotate(now)
	if _, there := m.young[id]; there {
		return
	}
	if len(m.young) >= m.most {
		m.lost = now.plus(m.keep)
		return
	}
	m.young[id] = struct{}{}
}

// has reports whether an id is remembered.
func (m *memory) has(id string) bool {
	_, young := m.young[id]
	_, old := m.old[id]
	return young || old
}

// room reports whether the ends of this many more requests can be remembered, and no id was
// forgotten too early.
func (m *memory) room(now Instant, requests int) bool {
	m.rotate(now)
	return now >= m.lost && len(m.young)+requests <= m.most
}

// rotate forgets the older generation, once the younger one is as old.
func (m *memory) rotate(now Instant) {
	if now < m.rotated.plus(m.keep) {
		return
	}
	if len(m.young) == 0 && len(m.old) == 0 {
		m.rotated = now
		return
	}
	m.young, m.old, m.rotated = map[string]struct{}{}, m.young, now
}
