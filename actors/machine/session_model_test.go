package machine_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// session is a small model of the session and of the server behind it, with one request. It keeps the
// promises that package machine is given, and no others: replies come in any order and may be lost
// either way, the connection comes and goes, and what it tells waits in the inbox of the request, which
// may act on old news meanwhile.
//
// It promises two things beyond the package's doc: an order of a request that has not heard of the newest
// epoch is dropped; NodeGone without an operation is told only of a node that the session knows, which
// it does from Created or Found until it tells Found without a node, Deleted or Expired.
type session struct {
	t *rapid.T

	up          bool
	established bool // the server knows this session, so that it can expire
	closed      bool
	lease       bool
	epoch       int

	node      string // our node at the server, "" when it does not exist
	exhausted bool   // its sequence number is too near the end
	known     string // our node as the session knows it
	nodes     int    // how many were ever made

	orders   []machine.Effect // requests without an answer
	watching uint64           // operation of the watch that is set on the predecessor
	own      uint64           // operation of the watch that is set on our own node
	granted  bool             // our own node was to be watched: the request holds
	inbox    []news
}

// news is an event on its way to the request.
type news struct {
	event machine.Event
	epoch int
}

func (s *session) tell(ev machine.Event) { s.inbox = append(s.inbox, news{ev, s.epoch}) }

func (s *session) answer(op uint64, kind machine.Kind) { s.tell(machine.Event{Kind: kind, Op: op}) }

// choose draws one of several things that may happen; the first is the simplest.
func (s *session) choose(what string, outcomes ...string) string {
	return rapid.SampledFrom(outcomes).Draw(s.t, what)
}

func (s *session) maybe(what string) bool { return rapid.Bool().Draw(s.t, what) }

// take gets an order of a request that has heard of that epoch.
func (s *session) take(e machine.Effect, epoch int) {
	switch {
	case s.closed:
		s.tell(machine.Event{Kind: machine.Closed})
	case epoch != s.epoch:
	case e.Do == machine.Withdraw:
		at := slices.IndexFunc(s.orders, func(o machine.Effect) bool { return o.Do == machine.Create && o.Op == e.Op })
		if at >= 0 && s.choose("withdraw", "not sent yet", "under way") == "not sent yet" {
			s.orders = slices.Delete(s.orders, at, at+1)
			s.answer(e.Op, machine.NotCreated)
		}
	case e.Do == machine.WatchQueue || e.Do == machine.CheckOwn:
		s.answerHolder(e.Do)
	default:
		s.orders = append(s.orders, e)
	}
}

// answerHolder answers what a holder asks besides, or leaves the answer to the loss of the connection.
func (s *session) answerHolder(what machine.Do) {
	switch {
	case !s.up:
	case what == machine.WatchQueue:
		if s.maybe("contended") {
			s.answer(0, machine.Contended)
		}
	case s.known != "" && s.node == "":
		s.answer(0, machine.NodeGone)
	default:
		s.answer(0, rapid.SampledFrom([]machine.Kind{machine.Checked, machine.Silent}).Draw(s.t, "check"))
	}
}

// creating reports whether a create is under way, which may yet make a node.
func (s *session) creating() bool {
	return slices.ContainsFunc(s.orders, func(o machine.Effect) bool { return o.Do == machine.Create })
}

// answerable lists the orders that can be answered now, as indices.
func (s *session) answerable() []int {
	var all []int
	for i, o := range s.orders {
		if s.up && (o.Do != machine.Verify || !s.creating()) {
			all = append(all, i)
		}
	}
	return all
}

// carryOut answers an order: well, or in any way that is legal.
func (s *session) carryOut(at int, well bool) {
	o := s.orders[at]
	s.orders = slices.Delete(s.orders, at, at+1)
	outcome := "done"
	if !well {
		outcome = s.choose(o.Do.String(), "done", "done", "done", "done", "done", "done", "done", "done",
			"done", "done", "reply lost", "not done", "refused", "done", "done", "done")
	}
	switch outcome {
	case "done":
		s.done(o)
	case "reply lost":
		s.atServer(o)
		s.answer(o.Op, machine.Unknown)
	case "not done":
		s.answer(o.Op, machine.Unknown)
	case "refused":
		if o.Do == machine.Create {
			s.answer(o.Op, machine.NotCreated)
		} else {
			s.answer(o.Op, machine.Refused)
		}
	}
}

// atServer carries an order out at the server.
func (s *session) atServer(o machine.Effect) {
	switch o.Do {
	case machine.Create:
		if s.node != "" {
			s.t.Fatalf("a second node of one request, %v while there is %s", o, s.node)
		}
		s.nodes++
		s.node = fmt.Sprintf("n-%d", s.nodes)
		s.exhausted = s.choose("sequence", "low", "low", "low", "exhausted") == "exhausted"
	case machine.Delete, machine.GiveBack:
		if o.Node == s.node {
			s.node = ""
		}
	}
}

// done carries an order out and answers it with what the server says.
func (s *session) done(o machine.Effect) {
	s.atServer(o)
	ev := machine.Event{Op: o.Op}
	switch o.Do {
	case machine.Create:
		ev.Kind = machine.Created
		s.describe(&ev)
		switch s.choose("queue", "first", "unknown", "behind ours") {
		case "first":
			ev.First = true
		case "behind ours":
			ev.Predecessor = "p"
		}
	case machine.Verify:
		ev.Kind = machine.Found
		s.describe(&ev)
	case machine.Delete, machine.GiveBack:
		ev.Kind, s.known, s.granted = machine.Deleted, "", false
	case machine.List:
		ev.Kind = machine.Listed
		s.list(&ev)
	case machine.Watch:
		ev.Kind, s.watching = machine.Watched, o.Op
		if s.maybe("the queue is another already") {
			ev.Kind, s.watching = s.news(), 0
		}
	case machine.WatchOwn:
		s.granted = true
		ev.Kind, ev.Unlock, s.own = machine.OwnRead, s.maybe("unlock"), o.Op
		if s.node == "" {
			ev.Kind, ev.Unlock, s.own = machine.NodeGone, false, 0
		}
	default:
		s.t.Fatalf("no request: %v", o)
	}
	s.tell(ev)
}

// news gives an event that a waiting request may hear.
func (s *session) news() machine.Kind {
	kinds := []machine.Kind{machine.TurnCame, machine.PredecessorGone, machine.Changed}
	return rapid.SampledFrom(kinds).Draw(s.t, "news of the queue")
}

// describe puts our node into an event, and a committed transaction renews the lease.
func (s *session) describe(ev *machine.Event) {
	s.lease = true
	s.known = s.node
	s.granted = s.granted && s.known != ""
	if s.node != "" {
		ev.Node, ev.Token, ev.Exhausted = s.node, 7168, s.exhausted
	}
}

func (s *session) list(ev *machine.Event) {
	if s.node == "" {
		ev.Missing = true
		return
	}
	switch s.choose("listing", "first", "behind another", "too old") {
	case "first":
		ev.First = true
	case "behind another":
		ev.Predecessor = "p"
	case "too old":
		ev.Missing = true
	}
}

// disconnect: what was under way is done or not, or waits for the connection; the watches are gone.
func (s *session) disconnect() {
	s.up, s.watching, s.own = false, 0, 0
	var kept, late []machine.Effect
	for _, o := range s.orders {
		switch s.choose("under way", "waits", "done", "not done") {
		case "waits":
			kept = append(kept, o)
			continue
		case "done":
			s.atServer(o)
		}
		if s.maybe("told after") {
			late = append(late, o)
		} else {
			s.answer(o.Op, machine.Unknown)
		}
	}
	s.orders = kept
	s.tell(machine.Event{Kind: machine.Disconnected})
	for _, o := range late {
		s.answer(o.Op, machine.Unknown)
	}
}

func (s *session) connect() {
	s.up, s.established = true, true
	s.tell(machine.Event{Kind: machine.Connected})
}

// expire: the server has ended the session. Orders that were to be carried out in it never will be.
func (s *session) expire() {
	s.forget()
	s.established, s.lease = false, false
	s.epoch++
	s.tell(machine.Event{Kind: machine.Expired})
}

func (s *session) close() {
	s.forget()
	s.up, s.closed, s.lease = false, true, false
	s.tell(machine.Event{Kind: machine.Closed})
}

func (s *session) forget() {
	s.node, s.known, s.orders, s.watching, s.own, s.granted = "", "", nil, 0, 0, false
}

// deleted: an operator deletes our node.
func (s *session) deleted() {
	s.node = ""
	if s.own != 0 {
		s.answer(s.own, machine.NodeGone)
		s.own = 0
	}
}
