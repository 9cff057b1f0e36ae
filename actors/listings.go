package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// listing is a listing of one lock path that is under way, and who waits for it. One listing serves
// everybody who asked before it was answered and whose node it shows: nodes only ever vanish from
// before a contender, so that an older view never makes it look closer to the head than it is.
type listing struct {
	waiting []lister
	late    []lister // asked while it was under way
}

type lister struct {
	contender *contender
	op        uint64
}

func (s *session) list(c *contender, op uint64) {
	if l := s.listings[c.path]; l != nil {
		l.late = append(l.late, lister{c, op})
		return
	}
	s.startListing(c.path, []lister{{c, op}})
}

func (s *session) startListing(path string, waiting []lister) {
	l := &listing{waiting: waiting}
	s.listings[path] = l
	s.run(func(conn *zkconn.Conn) func() {
		children, err := conn.Children(path)
		return func() { s.listed(path, l, children, err) }
	})
}

func (s *session) listed(path string, l *listing, children []string, err error) {
	if s.listings[path] == l {
		delete(s.listings, path)
	}
	if errors.Is(err, zkconn.ErrNoNode) { // the lock path is gone, and every node in it
		children, err = nil, nil
	}
	for _, w := range l.waiting {
		s.tellListed(w, children, err)
	}
	var again []lister
	for _, w := range l.late {
		if _, shown := machine.Find(children, w.contender.node); shown && err == nil || !s.connected {
			s.tellListed(w, children, err)
		} else {
			again = append(again, w)
		}
	}
	if len(again) == 0 {
		return
	}
	if running := s.listings[path]; running != nil {
		running.late = append(running.late, again...)
		return
	}
	s.startListing(path, again)
}

func (s *session) tellListed(w lister, children []string, err error) {
	if w.contender.gone {
		return
	}
	s.tell(w.contender.lock, listedEvent(w, children, err))
}

func listedEvent(w lister, children []string, err error) machine.Event {
	switch {
	case err == nil:
		return machine.ReadQueue(w.op, children, w.contender.node)
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		return machine.Event{Kind: machine.Refused, Op: w.op, Reason: why(err), Detail: err.Error()}
	default:
		return machine.Event{Kind: machine.Unknown, Op: w.op, Detail: err.Error()}
	}
}
