package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// watcher is a contender that waits for news of a node: its predecessor's, or its own.
type watcher struct {
	contender *contender
	op        uint64
	own       bool
}

// What a contender's data say when somebody asks for the lock: the word of this library and of
// ZooKeeper's recipe, and Curator's.
const (
	unlockData  = "unlock"
	curatorData = "__REVOKE__"
)

// watchPredecessor tells the contender when its predecessor's node is gone. The node is read rather
// than looked up: reading one that is gone leaves no watch behind. The watcher is registered before
// the request is sent, so that no event can come too early for it.
func (s *session) watchPredecessor(c *contender, e machine.Effect) {
	path := c.path + "/" + e.Node
	s.register(&c.predecessor, path, watcher{contender: c, op: e.Op})
	s.run(func(conn *zkconn.Conn) func() {
		_, _, err := conn.GetWatched(path)
		return func() { s.watching(c, path, e.Op, err) }
	})
}

func (s *session) watching(c *contender, path string, op uint64, err error) {
	if !s.isWatching(c, path, op) {
		return // its event came first, or it has gone on
	}
	switch {
	case err == nil:
		s.tell(c.lock, machine.Event{Kind: machine.Watched, Op: op})
	case errors.Is(err, zkconn.ErrNoAuth):
		// We may not read it, so no event will come: the slow re-list has to find out.
		s.tell(c.lock, machine.Event{Kind: machine.Watched, Op: op})
	case errors.Is(err, zkconn.ErrNoNode):
		s.unregister(&c.predecessor, c)
		s.tell(c.lock, machine.Event{Kind: machine.PredecessorGone, Op: op})
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		s.unregister(&c.predecessor, c)
		s.tell(c.lock, machine.Event{Kind: machine.Refused, Op: op, Reason: why(err), Detail: err.Error()})
	default:
		s.unregister(&c.predecessor, c)
		s.tell(c.lock, machine.Event{Kind: machine.Unknown, Op: op, Detail: err.Error()})
	}
}

// watchOwn reads the contender's own node and watches it: for a request to give the lock back, and for
// an operator who deletes it. Only a holder asks for it.
func (s *session) watchOwn(c *contender, e machine.Effect) {
	c.granted = true
	path := c.path + "/" + e.Node
	s.register(&c.own, path, watcher{contender: c, op: e.Op, own: true})
	s.run(func(conn *zkconn.Conn) func() {
		data, _, err := conn.GetWatched(path)
		return func() { s.ownRead(c, path, e.Op, data, err) }
	})
}

func (s *session) ownRead(c *contender, path string, op uint64, data []byte, err error) {
	if c.own != path || c.gone {
		return
	}
	ev := machine.Event{Op: op}
	switch {
	case err == nil:
		ev.Kind = machine.OwnRead
		ev.Unlock = string(data) == unlockData || string(data) == curatorData
	case errors.Is(err, zkconn.ErrNoNode):
		ev.Kind = machine.NodeGone
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		ev.Kind, ev.Reason, ev.Detail = machine.Refused, why(err), err.Error()
	default:
		ev.Kind, ev.Detail = machine.Unknown, err.Error()
	}
	s.tell(c.lock, ev)
}

// nodeEvent gives an event of a watched node to those who asked for it, and to nobody else.
func (s *session) nodeEvent(ev zkconn.Event) {
	switch ev.Kind {
	case zkconn.NodeDeleted:
		all := s.watches[ev.Path]
		delete(s.watches, ev.Path)
		for _, w := range all {
			w.forget()
			kind := machine.PredecessorGone
			if w.own {
				kind = machine.NodeGone
			}
			s.tell(w.contender.lock, machine.Event{Kind: kind, Op: w.op})
		}
	case zkconn.NodeDataChanged:
		for _, w := range s.watches[ev.Path] {
			if w.own {
				s.tell(w.contender.lock, machine.Event{Kind: machine.OwnChanged, Op: w.op})
			} else { // somebody asks the predecessor for the lock; the watch is spent, set it again
				s.watchPredecessor(w.contender, machine.Effect{Op: w.op, Node: lastElement(ev.Path)})
			}
		}
	}
}

func lastElement(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// forget takes a watch off its contender whose node is gone.
func (w watcher) forget() {
	if w.own {
		w.contender.own = ""
	} else {
		w.contender.predecessor = ""
	}
}

// register puts a watcher into the place *slot, where the path of the contender's watch of that kind
// is kept; it takes the place of an older one.
func (s *session) register(slot *string, path string, w watcher) {
	s.unregister(slot, w.contender)
	*slot = path
	s.watches[path] = append(s.watches[path], w)
}

func (s *session) unregister(slot *string, c *contender) {
	path := *slot
	if path == "" {
		return
	}
	*slot = ""
	own := slot == &c.own
	all := s.watches[path]
	kept := make([]watcher, 0, len(all))
	for _, w := range all {
		if w.contender != c || w.own != own {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		delete(s.watches, path)
	} else {
		s.watches[path] = kept
	}
}

func (s *session) isWatching(c *contender, path string, op uint64) bool {
	for _, w := range s.watches[path] {
		if w.contender == c && !w.own && w.op == op {
			return true
		}
	}
	return false
}

// unwatch drops all that a contender watches.
func (s *session) unwatch(c *contender) {
	s.unregister(&c.predecessor, c)
	s.unregister(&c.own, c)
}
