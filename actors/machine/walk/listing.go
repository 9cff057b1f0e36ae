package walk

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// What is here mirrors actors/listings.go.

func (w *world) list(i int, o order) {
	if w.contest(i) { // whoever has the node holds
		own := w.contenders[i].known.node != 0
		w.tell(i, news{Kind: machine.Listed, Op: o.Op, First: own, Missing: !own})
		return
	}
	tasks := &w.sessionOf(i).tasks
	for t := range tasks.all() {
		if l := &tasks.at[t].listing; l.active {
			l.late[i] = o.Op
			return
		}
	}
	var waiting [maxContenders]uint8
	waiting[i] = o.Op
	w.startListing(i, waiting, o.Epoch)
}

func (w *world) startListing(i int, waiting [maxContenders]uint8, decided uint8) {
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
	var again [maxContenders]uint8
	waits := -1
	for i := range w.members(s) {
		if op := t.listing.waiting[i]; op != 0 {
			w.tellListed(i, op, children, t.result)
		}
	}
	for i := range w.members(s) {
		op := t.listing.late[i]
		if op == 0 {
			continue
		}
		shown := slices.Contains(t.listing.shown[:], w.contenders[i].known.node) && w.contenders[i].known.node != 0
		if shown && t.result == succeeded || !w.sessions[s].up {
			w.tellListed(i, op, children, t.result)
		} else {
			again[i], waits = op, i
		}
	}
	if waits < 0 {
		return
	}
	tasks := &w.sessions[s].tasks
	for u := range tasks.all() {
		if l := &tasks.at[u].listing; l.active {
			for i, op := range again {
				if op != 0 && l.late[i] == 0 && l.waiting[i] == 0 {
					l.late[i] = op
				}
			}
			return
		}
	}
	w.startListing(waits, again, t.decided)
}

// tellListed mirrors session.tellListed and listedEvent.
func (w *world) tellListed(i int, op uint8, children []string, result outcome) {
	c := &w.contenders[i]
	if c.known.gone {
		return
	}
	if result == unknown {
		w.tell(i, news{Kind: machine.Unknown, Op: op})
		return
	}
	ev, _ := machine.ReadQueue(uint64(op), children, machine.View{Own: c.known.node.name()})
	switch {
	case w.mistake(ReaderBesideWriter) && w.plan.Modes[i] == messages.Read:
		ev.First = true
	case w.mistake(WriterBesideReader) && named(ev.Predecessor).mode() == messages.Read:
		ev.First = true
	}
	w.tell(i, news{
		Kind: machine.Listed, Op: op, Predecessor: named(ev.Predecessor),
		Missing: ev.Missing, First: ev.First, Head: ev.Head,
	})
}
