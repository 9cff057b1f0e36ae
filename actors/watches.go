package actors

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// watcher is a contender that waits for news of a node: its own, or one that its vigil is about.
type watcher struct {
	contender *contender
	op        uint64
	vigil     *vigil // nil for the own node
	rest      *rest  // of a node that may be used again: who comes is of interest
}

// reading is a holder's node that is to be read and watched.
type reading struct {
	contender *contender
	effect    machine.Effect
	asked     time.Time
}

// soon is how long the reading of a holder's node is put off: who holds for less spares the servers the request. What
// was written to the node before is found then.
const soon = 5 * time.Millisecond

// watchOwn reads the contender's own node and watches it, before long: for a request to give the lock back, and for
// an operator who deletes it. Only a holder asks for it.
func (s *session) watchOwn(c *contender, e machine.Effect) {
	s.grantedTo(c)
	s.unwatchOwn(c)
	if !s.fast(LateReading) || c.contest() || c.style.Mode == messages.Semaphore { // others wait to hear of it, or it may be another's node
		s.readOwn(c, e)
		return
	}
	c.owed = e.Op
	s.unread = append(s.unread, reading{c, e, time.Now()})
	if len(s.unread) == 1 {
		s.after(soon, s.readDue)
	}
}

// readDue reads the nodes of those who still hold.
func (s *session) readDue() {
	now := time.Now()
	for i, r := range s.unread {
		if wait := soon - now.Sub(r.asked); wait > 0 {
			s.unread = s.unread[i:]
			s.after(wait, s.readDue)
			return
		}
		if c := r.contender; c.owed == r.effect.Op && s.connected && !c.gone {
			c.owed = 0
			s.readOwn(c, r.effect)
		}
	}
	s.unread = nil
}

func (s *session) readOwn(c *contender, e machine.Effect) {
	path := c.at(e.Node)
	c.own = path
	s.watches[path] = append(s.watches[path], watcher{contender: c, op: e.Op})
	movesUp, sp, me := c.style.Mode == messages.Semaphore && !c.movedUp, c.spec, s.identity(c)
	// Once for each node: the write's own event may come back here, as OwnChanged, when others of this session
	// watch the node.
	c.movedUp = true
	s.run(func(conn *zkconn.Conn) func() {
		if movesUp {
			moveUp(conn, path)
		}
		data, stat, err := conn.GetWatched(path)
		if err == nil && sp.contest() && !me.owns(sp, data, stat) {
			err = zkconn.ErrNoNode // another has made it since ours was deleted
		}
		return func() { s.ownRead(c, path, e.Op, data, err) }
	})
}

// moveUp tells the one behind us in a semaphore's queue, who watches our node, that we hold: then it has to
// watch all who hold. It writes what is there already, for somebody may just have asked for the lock there.
func moveUp(conn *zkconn.Conn, path string) {
	for range 3 {
		data, stat, err := conn.Get(path)
		if err == nil {
			err = conn.SetDataAt(path, data, stat.Version)
		}
		if !errors.Is(err, zkconn.ErrBadVersion) {
			return // what we may not write nobody hears of: the slow re-list has to find out
		}
	}
}

func (s *session) ownRead(c *contender, path string, op uint64, data []byte, err error) {
	if c.own != path || c.gone {
		return
	}
	ev := machine.Event{Op: op}
	switch {
	case err == nil:
		ev.Kind = machine.OwnRead
		ev.Unlock = queue.IsRevokeRequest(data)
		c.asked = ev.Unlock
	case errors.Is(err, zkconn.ErrNoNode):
		ev.Kind = machine.NodeGone
		s.vanished(path)
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		ev.Kind, ev.Reason, ev.Detail = machine.Refused, why(err), err.Error()
	default:
		c.movedUp = false // nobody knows
		ev.Kind, ev.Detail = machine.Unknown, err.Error()
	}
	s.tell(c.lock, ev)
}

// nodeEvent gives an event of a watched node to those who asked for it, and to nobody else.
func (s *session) nodeEvent(ev zkconn.Event) {
	if ev.Kind != zkconn.NodeDataChanged {
		s.queries.Changed(ev.Path)
	}
	key := ev.Path
	if ev.Kind == zkconn.NodeChildrenChanged {
		key = childrenOf(ev.Path)
	}
	all := s.watches[key]
	delete(s.watches, key) // a watch tells once
	if ev.Kind == zkconn.NodeDeleted {
		all = append(all, s.watches[childrenOf(ev.Path)]...)
		delete(s.watches, childrenOf(ev.Path))
	}
	for _, w := range all {
		switch {
		case w.vigil != nil:
			s.stirred(w, ev)
		case w.rest != nil:
			s.arrived(w.rest, ev.Kind != zkconn.NodeChildrenChanged)
		case w.contender.own != ev.Path: // it has gone on
		case ev.Kind == zkconn.NodeDeleted:
			w.contender.own = ""
			s.tell(w.contender.lock, machine.Event{Kind: machine.NodeGone, Op: w.op})
		default:
			w.contender.own = ""
			s.tell(w.contender.lock, machine.Event{Kind: machine.OwnChanged, Op: w.op})
		}
	}
}

// drop takes watchers off a key.
func (s *session) drop(key string, these func(watcher) bool) {
	all := s.watches[key]
	kept := make([]watcher, 0, len(all))
	for _, w := range all {
		if !these(w) {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		delete(s.watches, key)
	} else {
		s.watches[key] = kept
	}
}

// unwatchOwn forgets the watch on a contender's own node.
func (s *session) unwatchOwn(c *contender) {
	c.owed = 0
	if c.own == "" {
		return
	}
	s.drop(c.own, func(w watcher) bool { return w.contender == c && w.vigil == nil && w.rest == nil })
	c.own = ""
}

// unwatch drops all that a contender watches.
func (s *session) unwatch(c *contender) {
	s.endVigil(c)
	s.unwatchOwn(c)
}
