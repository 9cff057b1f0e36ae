package actors

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Group commit. A session that is idle sends at once. While a transaction is under
// way, creates and deletes gather, and go together in the next: its bounds are operations and bytes, and a few may be
// under way when there is enough for another. All or nothing is done; when one is refused its parts are asked
// for one by one, so that each is answered for itself, and when its outcome is unknown each part's is.

const (
	// maxTogether bounds the operations of one transaction; those of one lock path stay below messages.MaxPlace.
	maxTogether = 256
	// maxBytes bounds the names and data of one transaction; jute.maxbuffer is 1 MiB.
	maxBytes = 256 << 10
	// enough is how many operations make another transaction worth sending while others are under way.
	enough = 64
	// maxUnderway is how many transactions may be under way.
	maxUnderway = 4
)

// change is a create or a delete that waits to be committed.
type change struct {
	contender *contender
	op        uint64
	node      string // to be deleted; "" for a create
}

func (ch change) bytes() int {
	const header = 64
	return header + len(ch.contender.path) + len(ch.node) + len(ch.contender.guid) + ch.contender.dataBytes()
}

// submit takes a change. It is sent at once when nothing is under way, by itself where it cannot share a transaction.
func (s *session) submit(ch change) {
	switch {
	case ch.node == "" && s.differs(ch):
		return
	case !s.fast(GroupCommit):
		s.alone(ch, func() {})
		return
	case s.joins(ch), s.lingers(ch):
		return
	}
	s.gathered = append(s.gathered, ch)
	s.flush()
}

// differs carries out a create by itself where the lock path does not allow for more, or is not known. The first that
// comes to a path finds out about it; those that come meanwhile wait, so that they can share a transaction.
func (s *session) differs(ch change) bool {
	path := ch.contender.path
	known, _ := s.facts.Get(path)
	if known.counted && ch.contender.spec.permits == 0 && s.fast(GroupCommit) {
		return false
	}
	if !s.fast(GroupCommit) {
		s.alone(ch, func() {})
		return true
	}
	if waiting, learning := s.learning[path]; learning {
		s.learning[path] = append(waiting, ch)
		return true
	}
	if known.exists {
		s.alone(ch, func() {})
		return true
	}
	s.learning[path] = nil
	s.alone(ch, func() {
		waiting := s.learning[path]
		delete(s.learning, path)
		for _, ch := range waiting {
			s.submit(ch)
		}
	})
	return true
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
	s.figures.Batch(1)
	c, sp := ch.contender, ch.contender.spec
	if ch.node != "" {
		path := sp.at(ch.node)
		if next, some := c.successor(); some {
			s.run(func(conn *zkconn.Conn) func() {
				_, sent, err := conn.Commit(nil, []string{path}, []string{next.path})
				return func() {
					if s.disappeared([]beside{next}, err) {
						s.alone(ch, after)
						return
					}
					s.removed(c, machine.Effect{Op: ch.op, Node: ch.node}, sent, err)
					after()
				}
			})
			return
		}
		s.run(func(conn *zkconn.Conn) func() {
			sent, err := conn.Delete(path)
			return func() { s.removed(c, machine.Effect{Op: ch.op, Node: ch.node}, sent, err); after() }
		})
		return
	}
	c.place, c.mates = 0, false
	known, _ := s.facts.Get(c.path)
	without := s.opts.without
	s.run(func(conn *zkconn.Conn) func() {
		made, learnt, early, err := createNode(conn, sp, known, without)
		return func() { c.early = early; s.created(c, ch.op, made, learnt, err); after() }
	})
}

// commit carries out several changes in one transaction.
func (s *session) commit(batch []change) {
	s.figures.Batch(len(batch))
	var creates []zkconn.NewNode
	var from []*spec // of each
	var at []int     // likewise: the contender may have another place when this is written
	var deletes []string
	places := map[string]int{}
	exist, nodes := besides(batch)
	for _, ch := range batch {
		sp := ch.contender.spec
		if ch.node != "" {
			deletes = append(deletes, sp.at(ch.node))
			continue
		}
		ch.contender.place = places[sp.path]
		at = append(at, ch.contender.place)
		places[sp.path]++
		creates = append(creates, zkconn.NewNode{Parent: sp.path, Prefix: sp.style.Prefix(sp.guid)})
		from = append(from, sp)
	}
	for _, ch := range batch {
		if ch.node == "" {
			ch.contender.mates = places[ch.contender.path] > 1
		}
	}
	s.run(func(conn *zkconn.Conn) func() {
		for i, sp := range from {
			creates[i].Data = sp.data(at[i])
		}
		made, sent, err := conn.Commit(creates, deletes, nodes)
		return func() {
			if s.disappeared(exist, err) { // nothing was done
				s.commit(batch)
				return
			}
			s.committed(batch, made, sent, err)
		}
	})
}

// besides gives what must exist when the nodes of a batch are deleted, each once. It begins with the newest: to it the
// others' holds have come.
func besides(batch []change) (all []beside, paths []string) {
	for _, ch := range slices.Backward(batch) {
		if ch.node == "" {
			continue
		}
		if b, some := ch.contender.successor(); some && !slices.Contains(paths, b.path) {
			all, paths = append(all, b), append(paths, b.path)
		}
	}
	return all, paths
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
		s.renewed()
	}
	counted := facts{exists: true, counted: true}
	next := 0
	for _, ch := range batch {
		switch {
		case ch.node != "":
			s.removed(ch.contender, machine.Effect{Op: ch.op, Node: ch.node}, sent, err)
		case err != nil:
			s.created(ch.contender, ch.op, zkconn.Created{}, counted, err)
		default:
			s.created(ch.contender, ch.op, made[next], counted, nil)
			next++
		}
	}
	s.flush()
}

// ungather takes a create back that has not been sent.
func (s *session) ungather(c *contender) bool {
	mine := func(ch change) bool { return ch.contender == c && ch.node == "" }
	if i := slices.IndexFunc(s.gathered, mine); i >= 0 {
		s.gathered = slices.Delete(s.gathered, i, i+1)
		c.creates--
		return true
	}
	if row := s.joining[c.queue()]; row != nil {
		if i := slices.IndexFunc(row.creates, mine); i >= 0 {
			if row.creates = slices.Delete(row.creates, i, i+1); len(row.creates) == 0 {
				delete(s.joining, c.queue())
			}
			c.creates--
			return true
		}
	}
	waiting := s.learning[c.path]
	if i := slices.IndexFunc(waiting, mine); i >= 0 {
		s.learning[c.path] = slices.Delete(waiting, i, i+1)
		c.creates--
		return true
	}
	return false
}
