package walk

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// note writes a line of a story.
func (w *world) note(format string, args ...any) {
	if w.telling {
		w.lines = append(w.lines, fmt.Sprintf(format, args...))
	}
}

func contenderName(i int) string { return fmt.Sprintf("contender %d", i+1) }

func sessionName(s int) string { return "session " + string(rune('A'+s)) }

// String says what a piece of news is.
func (n news) String() string {
	text := n.Kind.String()
	switch {
	case n.Alone:
		text += ", alone"
	case n.First:
		text += ", first"
	case n.Missing:
		text += ", own node missing"
	case n.Predecessor != 0:
		text += ", behind " + n.Predecessor.String()
	}
	if n.Kind == machine.Found && n.Node == 0 {
		text += ", nothing"
	}
	return text
}

// String says what an event is.
func (e event) String() string {
	switch e.kind {
	case gotConnection:
		return "connected"
	case lostConnection:
		return "disconnected"
	case sessionExpired:
		return "expired"
	case childrenChanged:
		return "the queue has changed"
	default:
		return e.node.String() + " was deleted"
	}
}

// String is short, for the stories: the contender and the sequence number.
func (id nodeID) String() string {
	if id == 0 {
		return "no node"
	}
	return fmt.Sprintf("node %d (of contender %d)", id.sequence(), id.contender()+1)
}

// describe says what a move is about to do.
func (w *world) describe(m move) string {
	text := moveNames[m.kind]
	s := int(m.a)
	switch m.kind {
	case applies, appliesOnly, appliesLast, delivers:
		return fmt.Sprintf("%s: %s %s", sessionName(s), text, w.sessions[s].tasks.at[m.b].describe())
	case fires:
		return fmt.Sprintf("%s: %s %v", sessionName(s), text, w.sessions[s].events.at[0])
	case cuts:
		if m.b&repliesLost != 0 {
			text += ", replies are lost"
		}
		if m.b&requestsWait != 0 {
			text += ", requests wait for the next"
		}
		return sessionName(s) + ": " + text
	case breaks:
		return fmt.Sprintf("%s %v", text, w.zk.nodes.at[m.a].id)
	case reaps:
		return text
	case appliesTogether, reconnects, reconnectsLagging, catchesUp, collapses, buries, silences, lapses, expires, closes:
		return sessionName(s) + ": " + text
	default:
		return contenderName(s) + ": " + text
	}
}

var moveNames = [...]string{
	begins:            "asks for the lock",
	lingers:           "is slow to read its mailbox",
	hears:             "takes its next message",
	hearsLate:         "takes its next message, and what it orders is slow to arrive",
	takes:             "its next order arrives",
	applies:           "the servers carry out",
	appliesOnly:       "the servers carry out, and the answer is slow to come:",
	appliesLast:       "the connection is lost after the servers carry out",
	appliesTogether:   "the servers carry out all creates in one transaction",
	delivers:          "the answer comes to",
	fires:             "it hears:",
	reconnects:        "a server is found",
	reconnectsLagging: "a server is found that lags behind",
	collapses:         "the servers, which have ended it, cut the connection",
	catchesUp:         "its server catches up",
	buries:            "the nodes of the session that is over are deleted",
	beats:             "a heartbeat checks its node",
	retries:           "it is time to try again",
	settlesAgain:      "it is time to settle again what it has left",
	learnsOfEnd:       "its session is told that the lock actor has stopped",
	restEnds:          "its node has rested for long enough",
	polls:             "it is time to look at the queue again",
	releases:          "is released",
	releasesEarly:     "is released, though it does not hold",
	cancels:           "is cancelled",
	timesOut:          "has waited too long",
	revokes:           "is asked to give it back",
	graceEnds:         "the grace period is over",
	stops:             "the lock actor is stopped",
	cuts:              "the connection is lost",
	silences:          "heartbeats go unanswered",
	lapses:            "the lease runs out",
	expires:           "the servers end the session",
	breaks:            "an operator deletes",
	reaps:             "the empty lock path is deleted",
	closes:            "is closed",
}

func (t task) describe() string {
	text := t.Do.String()
	switch t.Do {
	case machine.Settle:
		text = "Delete (by the session)"
	case watchSecond:
		text = "Watch (of the one before the predecessor)"
	case watchArrivals:
		text = "List, watched"
	case checkRest:
		text = "Check (of a node to reuse)"
	}
	if t.Do != machine.List {
		text += " of " + contenderName(int(t.contender))
	}
	if t.Do == machine.Verify && !t.looked {
		text += ", the look"
	}
	if t.node != 0 && t.Do != machine.Create {
		text += ", " + t.node.String()
	}
	if t.applied {
		text += [...]string{"", ": no node", ": nobody knows"}[t.result]
	}
	return text
}
