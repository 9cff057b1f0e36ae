package actors

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Group commit (DESIGN section 4, fast path 2). A session that is idle sends at once. While a transaction is under
// way, creates and deletes gather, and go together in the next: its bounds are operations and bytes, and a few may be
// under way when there is enough for another. All or nothing is done; when one is refused its parts are asked
// for one by one, so that each is answered for itself, and when its outcome is unknown each part's is.

const (
	// maxTogether bounds the operations of one transaction; those of one lock path stay below messages.MaxPlace.
	maxTogether = 256
	// maxBytes bounds the names and data of one transaction; jute.maxbuffer is 1 MiB.
	maxBytes = 256 << 10
	// enough is how many operations make another transaction worth sending while others are under way.
	enough = 32
	// maxUnderway is how many transactions may be under way.
	maxUnderway = 4
)

// change is a create or a delete that waits to be committed.
type change struct {
	contender *contender
	op        uint64
	node      string // to be deleted; "" for a create
	known     facts
}

func (ch change) bytes() int {
	const header = 64
	return header + len(ch.contender.path) + len(ch.node) + len(ch.contender.guid) + len(ch.contender.data)
}

// submit takes a change. It is sent at once when nothing is under way.
func (s *session) submit(ch change) {
	s.gathered = append(s.gathered, ch)
	s.flush()
}

// flush sends what has been gathered, as far as it may be sent now.
func (s *session) flush() {
	for len(s.gathered) > 0 && (s.underway == 0 || s.underway < maxUnderway && len(s.gathered) >= enough) {
		n, bytes := 0, 0
		for n < len(s.gathered) && n < maxTogether && (n == 0 || bytes+s.gathered[n].bytes() <= maxBytes) {
			bytes += s.gathered[n].bytes()
			n++
		}
		batch := s.gathered[:n:n]
		if s.gathered = s.gathered[n:]; len(s.gathered) == 0 {
			s.gathered = nil
		}
		s.underway++
		if n == 1 {
			s.alone(batch[0], func() { s.underway--; s.flush() })
		} else {
			s.commit(batch)
		}
	}
}

// alone carries out one change by itself.
func (s *session) alone(ch change, after func()) {
	c, sp := ch.contender, ch.contender.spec
	if ch.node != "" {
		path := sp.at(ch.node)
		s.run(func(conn *zkconn.Conn) func() {
			sent, err := conn.Delete(path)
			return func() { s.removed(c, machine.Effect{Op: ch.op, Node: ch.node}, sent, err); after() }
		})
		return
	}
	c.place = 0
	parentWrites := s.opts.parentWrites
	s.run(func(conn *zkconn.Conn) func() {
		made, learnt, err := createNode(conn, sp, ch.known, parentWrites)
		return func() { s.created(c, ch.op, made, learnt, err); after() }
	})
}

// commit carries out several changes in one transaction.
func (s *session) commit(batch []change) {
	var creates []zkconn.NewNode
	var deletes []string
	places := map[string]int{}
	for _, ch := range batch {
		sp := ch.contender.spec
		if ch.node != "" {
			deletes = append(deletes, sp.at(ch.node))
			continue
		}
		ch.contender.place = places[sp.path]
		places[sp.path]++
		creates = append(creates, zkconn.NewNode{Parent: sp.path, Prefix: sp.style.Prefix(sp.guid), Data: sp.data})
	}
	s.run(func(conn *zkconn.Conn) func() {
		made, sent, err := conn.Commit(creates, deletes)
		return func() { s.committed(batch, made, sent, err) }
	})
}

// committed takes the answer to a transaction.
func (s *session) committed(batch []change, made []zkconn.Created, sent time.Time, err error) {
	s.underway--
	if outcome := zkconn.OutcomeOf(err); err != nil && outcome != zkconn.Unknown {
		// Nothing was done, for the sake of one part that nobody has asked the others about.
		for _, ch := range batch {
			s.alone(ch, func() {})
		}
		s.flush()
		return
	}
	if err == nil {
		s.renew(sent)
	}
	next := 0
	for _, ch := range batch {
		switch {
		case ch.node != "":
			s.removed(ch.contender, machine.Effect{Op: ch.op, Node: ch.node}, sent, err)
		case err != nil:
			s.created(ch.contender, ch.op, zkconn.Created{}, ch.known, err)
		default:
			s.created(ch.contender, ch.op, made[next], ch.known, nil)
			next++
		}
	}
	s.flush()
}

// ungather takes a create back that has not been sent.
func (s *session) ungather(c *contender) bool {
	for i, ch := range s.gathered {
		if ch.contender == c && ch.node == "" {
			s.gathered = slices.Delete(s.gathered, i, i+1)
			c.creates--
			return true
		}
	}
	return false
}
