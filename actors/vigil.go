package actors

import (
	"errors"
	"path"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// vigil is what a contender watches while it waits: its predecessor; as the first waiter of a semaphore, all
// who are before it, and the number of permits; or the whole lock path. It ends with the first that says that
// the queue is not what it was.
type vigil struct {
	op      uint64
	keys    []string // of session.watches
	pending int      // reads under way
	second  string   // the path of the one before the predecessor, while that is watched too
	head    bool     // the predecessor was seen to be the head of the queue
	abroad  bool     // it is about a node of another session
}

// childrenOf is the key of a watch on a lock path's children; no path ends like that.
func childrenOf(path string) string { return path + "/" }

// watchPredecessor begins a contender's vigil. Nodes are read rather than looked up: reading one that is gone
// leaves no watch behind. The watcher is registered before the request is sent, so that no event can come
// too early for it.
func (s *session) watchPredecessor(c *contender, e machine.Effect) {
	s.endVigil(c)
	v := &vigil{op: e.Op}
	c.vigil = v
	switch {
	case c.watchAll:
		s.watchChildren(c, v)
	case c.style.Mode != messages.Semaphore:
		s.lookAt(c, v, c.at(e.Node))
		s.lookAhead(c, v, e.Node)
		return
	case len(c.front) != c.before && c.written != e.Node:
		s.look(c, v, c.at(e.Node), c.unwritten(e.Node))
		return
	default:
		// The first waiter; or one behind a contender that has written to its node and does not fit. That one may
		// hold nevertheless, since before the permits became fewer, and does not move up again.
		for _, node := range c.ahead {
			s.look(c, v, c.at(node), nil)
		}
	}
	if c.style.Mode == messages.Semaphore {
		s.look(c, v, c.path, func(data []byte, _ zkconn.Stat) bool {
			permits, err := queue.ParsePermits(data)
			return err == nil && permits == c.permits
		})
	}
}

// lookAt watches a predecessor. One of our own session needs no watch: the session hears of its end by itself.
func (s *session) lookAt(c *contender, v *vigil, path string) {
	own := s.nodes[path]
	if own.contenders == 0 {
		s.goAbroad(c, v)
	}
	if own.contenders == 0 || !s.fast(LocalPredecessors) {
		s.look(c, v, path, nil)
		return
	}
	s.keep(c, v, own.path)
	s.tell(c.lock, machine.Event{Kind: machine.Watched, Op: v.op})
}

// unwritten tells whether the one before a semaphore's waiter, who did not hold yet when the queue was listed, has
// written nothing to its node. What was written before the watch was set may have been that it holds: then the queue
// is listed once more.
func (c *contender) unwritten(node string) func([]byte, zkconn.Stat) bool {
	return func(_ []byte, stat zkconn.Stat) bool {
		if stat.Version > 0 {
			c.written = node
		}
		return stat.Version == 0
	}
}

// look reads a node and watches it. same, if given, tells whether it is what the queue was judged by.
func (s *session) look(c *contender, v *vigil, path string, same func([]byte, zkconn.Stat) bool) {
	s.keep(c, v, path)
	v.pending++
	s.run(func(conn *zkconn.Conn) func() {
		data, stat, err := conn.GetWatched(path)
		return func() { s.looked(c, v, err, func() bool { return same == nil || same(data, stat) }) }
	})
}

// watchChildren reads the whole queue and watches it: whatever changes in it, it is listed again.
func (s *session) watchChildren(c *contender, v *vigil) {
	s.keep(c, v, childrenOf(c.path))
	v.pending++
	path, own, permits, before := c.path, c.node, c.permits, c.before
	s.run(func(conn *zkconn.Conn) func() {
		children, err := conn.ChildrenWatched(path)
		place, shown := queue.Find(children, own, permits)
		return func() { s.looked(c, v, err, func() bool { return shown && place.Before >= before }) }
	})
}

// looked takes the answer to a look. same tells whether what was read is what the queue was judged by.
func (s *session) looked(c *contender, v *vigil, err error, same func() bool) {
	if c.vigil != v {
		return // an event came first, or it has gone on
	}
	v.pending--
	ev := machine.Event{Op: v.op}
	switch {
	case err == nil && !same(), errors.Is(err, zkconn.ErrNoNode):
		ev.Kind = machine.PredecessorGone
		c.depart(v)
	case err == nil, errors.Is(err, zkconn.ErrNoAuth):
		// What we may not read we get no event of: the slow re-list has to find out.
		if v.pending > 0 {
			return
		}
		s.tell(c.lock, machine.Event{Kind: machine.Watched, Op: v.op})
		return
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		ev.Kind, ev.Reason, ev.Detail = machine.Refused, why(err), err.Error()
	default:
		ev.Kind, ev.Detail = machine.Unknown, err.Error()
	}
	s.endVigil(c)
	s.tellGone(c, ev, s.figures.Now(), false)
}

// stirred takes an event of what a vigil watches.
func (s *session) stirred(w watcher, ev zkconn.Event) {
	c, v := w.contender, w.vigil
	if c.vigil != v {
		return
	}
	if ev.Path == v.second {
		s.listAhead(c, v)
		return
	}
	if ev.Kind == zkconn.NodeDataChanged && c.style.Mode != messages.Semaphore {
		// Somebody asks the predecessor for the lock. The watch is spent: set it again.
		s.lookAt(c, v, ev.Path)
		return
	}
	c.depart(v)
	s.endVigil(c)
	local := ev.Epoch == 0 // an event of the servers has one
	s.tellGone(c, machine.Event{Kind: machine.PredecessorGone, Op: v.op, Head: v.head && ev.Kind == zkconn.NodeDeleted}, s.figures.Now(), local)
}

// depart notes that the predecessor has gone, where one was watched.
func (c *contender) depart(v *vigil) {
	if c.style.Mode != messages.Semaphore && !c.watchAll {
		c.departed = path.Base(v.keys[0])
	}
}

// keep registers what a vigil watches.
func (s *session) keep(c *contender, v *vigil, key string) {
	v.keys = append(v.keys, key)
	s.watches[key] = append(s.watches[key], watcher{contender: c, op: v.op, vigil: v})
}

// endVigil forgets what a contender watches while it waits.
func (s *session) endVigil(c *contender) {
	v := c.vigil
	if v == nil {
		return
	}
	c.vigil = nil
	s.comeHome(c, v)
	for _, key := range v.keys {
		s.drop(key, func(w watcher) bool { return w.vigil == v })
	}
}
