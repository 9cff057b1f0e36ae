package relay

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Lease tells for how long the lease of a grant still runs: that of messages.Held's Epoch and Run.
// It is zero, or less, when the lease is over, or has ever been since the grant.
type Lease interface {
	Left(epoch, run uint64) time.Duration
}

// Table is what a gateway knows of its requests. Make one with NewTable.
type Table struct {
	name     uint64
	patience time.Duration
	requests map[string]*entry
	// ended holds the ids of requests that are over, until sendings of theirs that were delayed
	// have surely come.
	ended   map[string]Instant
	changed []string // requests with events that have not been sent
	closing bool
}

// NewTable makes the table of a gateway that gives a request up when it has not heard of it for so
// long. Its name, not zero, tells it from one that had its address before, and had other lock
// actors.
func NewTable(name uint64, patience time.Duration) *Table {
	return &Table{name: name, patience: patience, requests: map[string]*entry{}, ended: map[string]Instant{}}
}

// Output is one of Spawn, Tell and Answer.
type Output any

type (
	// Spawn spawns a lock actor for a request. It must not enforce a grace period: the table does.
	Spawn struct {
		ID   string
		Want messages.Acquire
	}
	// Tell sends a command to the lock actor of a request.
	Tell struct {
		ID      string
		Command any
	}
	// Answer sends a reply to a requester.
	Answer struct {
		To    messages.ActorID
		Reply Reply
	}
)

// every is how often a waiter is to send: so often that one sending may be lost.
func (t *Table) every() time.Duration { return t.patience / 2 }

// Size is how many requests the table has.
func (t *Table) Size() int { return len(t.requests) }

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
	out := e.obey(r)
	if r.Over {
		return append(out, t.over(now, e)...)
	}
	return append(out, t.reply(now, lease, e, e.seen))
}

// stranger takes a sending of a request that the table does not have.
func (t *Table) stranger(now Instant, lease Lease, from messages.ActorID, r Request) []Output {
	_, past := t.ended[r.ID]
	if r.Over || r.Order >= Cancel {
		t.ended[r.ID] = now.plus(2 * t.patience) // a sending from before may come yet
	}
	switch {
	case r.Over:
		return nil
	case past || r.Want == nil || r.Order >= Cancel:
		return t.unknown(from, r)
	case t.closing:
		return []Output{Answer{To: from, Reply: Reply{ID: r.ID, Gateway: t.name, Standing: Closing, Number: r.Number}}}
	}
	e := &entry{id: r.ID, from: from, grace: r.Want.Grace, number: r.Number, received: now}
	t.requests[r.ID] = e
	want := *r.Want
	want.Grace = 0
	return []Output{Spawn{ID: r.ID, Want: want}, t.reply(now, lease, e, 0)}
}

// unknown answers that the request is not here; nobody waits for that where the requester has
// ended.
func (t *Table) unknown(to messages.ActorID, r Request) []Output {
	if r.Over {
		return nil
	}
	return []Output{Answer{To: to, Reply: Reply{ID: r.ID, Gateway: t.name, Standing: Unknown, Number: r.Number}}}
}

// Refuse is the answer to a request that cannot be carried out.
func Refuse(id string, number uint64, why string) Reply {
	return Reply{ID: id, Standing: Refused, Number: number, Detail: why}
}

// over takes it that the requester wants to hear no more.
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
	t.ended[e.id] = now.plus(2 * t.patience)
}

// Told takes what the lock actor of a request tells. Flush sends it on.
func (t *Table) Told(now Instant, id string, notice any) {
	e := t.requests[id]
	if e == nil || e.phase == gone {
		return
	}
	if e.newest == e.pushed {
		t.changed = append(t.changed, id)
	}
	e.told(now, notice)
	if e.phase == gone && e.orphaned {
		t.drop(now, e)
	}
}

// Ended takes it that the lock actor of a request has ended. Where it has not told so, it was
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

// Flush sends on what lock actors have told since the last time.
func (t *Table) Flush(now Instant, lease Lease) []Output {
	var out []Output
	for _, id := range t.changed {
		if e := t.requests[id]; e != nil && e.newest > e.pushed {
			out = append(out, t.reply(now, lease, e, max(e.seen, e.pushed)))
		}
	}
	t.changed = t.changed[:0]
	return out
}

// Tick does what is due. It is to be called a few times in each patience.
func (t *Table) Tick(now Instant) []Output {
	for id, until := range t.ended {
		if now >= until {
			delete(t.ended, id)
		}
	}
	var out []Output
	for _, e := range t.requests {
		silent := now >= e.received.plus(t.patience)
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

// Close begins the end of the gateway: it takes no more requests, promises nothing more, and gives
// up those that wait. Closed tells when nothing is promised any more.
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

// Closed tells whether the gateway is closing and has promised nothing that has not run out.
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
	r := Reply{ID: e.id, Gateway: t.name, Standing: Known, Number: e.number, Every: t.every(), First: after + 1}
	if !t.closing && now < e.received.plus(t.patience) { // what happens renews no promise of the dead
		r.Lasts = e.promise(now, lease)
	}
	for _, ev := range e.events[after-e.seen:] {
		told := Event{Notice: ev.notice}
		if ev.at != 0 {
			told.In = max(1, ev.at.since(e.received))
		}
		r.Events = append(r.Events, told)
	}
	e.pushed = e.newest
	return Answer{To: e.from, Reply: r}
}
