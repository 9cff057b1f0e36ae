package walk

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// What is here mirrors actors/listings.go.

func (w *world) list(i int, o order) {
	if w.contest(i) { // whoever has the node holds
		own := w.contenders[i].known.node != 0
		w.tell(i, news{Kind: machine.Listed, Op: o.Op, First: own, Missing: !own})
		return
	}
	w.listFor(i, o.Op, false, o.Epoch)
}

// listFor mirrors session.listFor.
func (w *world) listFor(i int, op uint8, ahead bool, decided uint8) {
	tasks := &w.sessionOf(i).tasks
	for t := range tasks.all() {
		if l := &tasks.at[t].listing; l.active && w.fast(SharedListings) {
			l.late.add(i, op, ahead)
			return
		}
	}
	var waiting listers
	waiting.add(i, op, ahead)
	w.startListing(i, waiting, decided)
}

func (l *listers) add(i int, op uint8, ahead bool) {
	if ahead {
		l.ahead[i] = op
	} else {
		l.ops[i] = op
	}
}

func (w *world) startListing(i int, waiting listers, decided uint8) {
	tasks := &w.sessionOf(i).tasks
	for t := range tasks.all() {
		tasks.at[t].listing.active = false
	}
	w.run(i, task{Do: machine.List, decided: decided, listing: listing{active: true, waiting: waiting}})
}

// listed mirrors session.listed.
func (w *world) listed(t task) {
	s := w.plan.Sessions[t.contender]
	var children []string
	for _, id := range t.listing.shown {
		if id != 0 {
			children = append(children, id.name())
		}
	}
	seen := queue.NewListing(children, 0)
	for i := range w.members(s) {
		w.tellListed(i, t.listing.waiting, seen, t.result)
	}
	var again listers
	waits := -1
	for i := range w.members(s) {
		late := t.listing.late
		switch {
		case late.ops[i] == 0 && late.ahead[i] == 0:
		case w.serves(i, seen, t.result) || !w.sessions[s].up:
			w.tellListed(i, late, seen, t.result)
		default:
			again.ops[i], again.ahead[i], waits = late.ops[i], late.ahead[i], i
		}
	}
	if waits >= 0 {
		w.listAgain(s, waits, again, t.decided)
	}
}

// listAgain is the end of session.listed: for who was not served.
func (w *world) listAgain(s, waits int, again listers, decided uint8) {
	tasks := &w.sessions[s].tasks
	for u := range tasks.all() {
		l := &tasks.at[u].listing
		if !l.active {
			continue
		}
		for i := range again.ops {
			if l.late.ops[i] == 0 && l.waiting.ops[i] == 0 {
				l.late.ops[i] = again.ops[i]
			}
			if l.late.ahead[i] == 0 && l.waiting.ahead[i] == 0 {
				l.late.ahead[i] = again.ahead[i]
			}
		}
		return
	}
	w.startListing(waits, again, decided)
}

// serves mirrors session.serves.
func (w *world) serves(i int, seen *queue.Listing, result outcome) bool {
	r := &w.contenders[i].known
	if result != succeeded {
		return false
	}
	place, shown := seen.Find(r.node.name())
	if shown && place.Predecessor != "" && named(place.Predecessor) == r.departed {
		return false // it was read before that one went
	}
	return shown
}

// tellListed mirrors session.tellListed, for all that a contender asked for.
func (w *world) tellListed(i int, who listers, seen *queue.Listing, result outcome) {
	if w.contenders[i].known.gone {
		return
	}
	if op := who.ops[i]; op != 0 {
		w.tell(i, w.judgeListing(i, op, seen, result))
	}
	if op := who.ahead[i]; op != 0 {
		w.lookedAhead(i, op, seen, result)
	}
}

// judgeListing mirrors contender.judgeListing.
func (w *world) judgeListing(i int, op uint8, seen *queue.Listing, result outcome) news {
	r := &w.contenders[i].known
	if result == unknown {
		return news{Kind: machine.Unknown, Op: op}
	}
	place, shown := seen.Find(r.node.name())
	ev := machine.ListedEvent(uint64(op), place, shown)
	r.second = named(place.LookAhead)
	switch {
	case w.mistake(ReaderBesideWriter) && w.plan.Modes[i] == messages.Read:
		ev.First = true
	case w.mistake(WriterBesideReader) && named(ev.Predecessor).mode() == messages.Read:
		ev.First = true
	}
	return news{
		Kind: machine.Listed, Op: op, Predecessor: named(ev.Predecessor),
		Missing: ev.Missing, First: ev.First, Head: ev.Head && w.fast(OneListing),
	}
}
