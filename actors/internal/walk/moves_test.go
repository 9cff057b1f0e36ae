package walk

import (
	"fmt"
	"math/bits"
	"slices"
)

// Which moves there are in a state, and how one is made.

// move is one thing that happens: the index of its kind, to which request or session, and in which way.
type move struct{ kind, at, how uint8 }

// kinds are all kinds: those of requests, of sessions, of the servers, of calls, and of clients.
var kinds = slices.Concat(ofActors, ofSessions, ofServers, ofCallers, ofClients)

// The first kinds of some of them.
var (
	firstOfServers = len(ofActors) + len(ofSessions)
	firstOfCallers = firstOfServers + len(ofServers)
	firstOfClients = firstOfCallers + len(ofCallers)
)

// goesOn reports whether a move comes by itself, expected whether it may be counted on.
func (m move) goesOn() bool   { c := kinds[m.kind].class; return c == itself || c == perhaps }
func (m move) expected() bool { c := kinds[m.kind].class; return c == itself || c == owed }

// full bounds the events that a lock actor leaves unread.
const full = 4

// moves lists all that can happen next.
func (w *world) moves(into []move) []move {
	for i := range w.plan.Sessions {
		if len(w.actors[i].inbox) >= full {
			return append(into, move{kind: hears, at: uint8(i)})
		}
	}
	for i := range w.plan.Sessions {
		switch w.actors[i].life {
		case unasked:
			if mayBegin(w, i) != 0 {
				into = append(into, move{kind: begins, at: uint8(i)})
			}
		case asked:
			into = w.movesOf(into, ofActors, 0, i)
		}
	}
	for s := range w.sessions {
		if slices.Contains(w.plan.Sessions, s) {
			into = w.movesOf(into, ofSessions, len(ofActors), s)
		}
	}
	for k := range w.plan.Calls {
		into = w.movesOf(into, ofCallers, firstOfCallers, k)
	}
	for s := range w.sessions {
		if w.plan.Calls != nil {
			into = w.movesOf(into, ofClients, firstOfClients, s)
		}
	}
	return w.movesOf(into, ofServers, firstOfServers, 0)
}

// movesOf lists what can happen to one request or session. first is the index of the first of these kinds.
func (w *world) movesOf(into []move, these []kind, first, at int) []move {
	for i := range these {
		k := &these[i]
		if k.bound != unbounded && w.left[k.bound] == 0 || k.class == fault && w.plan.Spared[at] {
			continue
		}
		for can := k.can(w, at); can != 0; can &= can - 1 {
			into = append(into, move{uint8(first + i), uint8(at), uint8(bits.TrailingZeros64(uint64(can)))})
		}
	}
	return into
}

// make makes a move, and all that follows at once.
func (w *world) make(m move) {
	k := &kinds[m.kind]
	if w.telling {
		w.note("%s", w.describe(m))
	}
	if k.bound != unbounded && w.left[k.bound] != Always {
		w.left[k.bound]--
	}
	k.do(w, int(m.at), int(m.how))
	w.settle()
	if w.plan.Swept {
		w.sweep()
	}
	w.checkHolders()
	w.checkBounds()
}

// describe tells a move.
func (w *world) describe(m move) string {
	k, at := &kinds[m.kind], int(m.at)
	text := "an operator "
	switch first := int(m.kind); {
	case first < len(ofActors):
		text = actorName(at) + " "
	case first < firstOfServers:
		text = sessionName(at) + ": "
	case first >= firstOfClients:
		text = "the client of " + sessionName(at) + " "
	case first >= firstOfCallers:
		text = fmt.Sprintf("call %d ", at+1)
	}
	if text += k.text; k.of != nil {
		text += " " + k.of(w, at, int(m.how))
	}
	return text
}
