package inspect

import (
	"fmt"
	"maps"
	"reflect"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Dispatcher runs the queries that reach a session, and answers them. Its methods are called on the
// session's goroutine.
type Dispatcher struct {
	session           Session
	queries           map[*pending]bool
	connected, closed bool
}

// pending is a query without an answer, or one that is answered at every change of a lock path.
type pending struct {
	query
	asker   any
	reply   func(answer any)
	follows messages.Follow // zero for a query that is answered once
	due     bool
	running bool
	pausing bool
	// failures counts those since its last answer, or since the epoch began.
	failures int
}

// NewDispatcher makes a dispatcher for a session that is not connected yet.
func NewDispatcher(session Session) *Dispatcher {
	return &Dispatcher{session: session, queries: map[*pending]bool{}}
}

// Ask takes a query, and ignores any other message. asker names the sender for Withdraw and is
// comparable. reply is called once, unless the query is withdrawn.
func (d *Dispatcher) Ask(asker any, msg any, reply func(answer any)) {
	switch q := queryOf(msg); {
	case q == nil:
	case q.run != nil:
		d.add(&pending{query: *q, asker: asker, reply: reply})
	default:
		reply(d.inside(q))
	}
}

func (d *Dispatcher) inside(q *query) any {
	switch {
	case q.wrong != nil:
		return q.refuse(refusal(q.wrong))
	case d.closed:
		return q.refuse(closed)
	}
	return q.finish(&d.session, nil)
}

var closed = messages.Refusal{Reason: messages.ReasonSessionClosed}

// Withdraw drops the unanswered queries of an asker. One that acts may have acted.
func (d *Dispatcher) Withdraw(asker any) {
	maps.DeleteFunc(d.queries, func(p *pending, _ bool) bool { return p.asker == asker && p.follows.Path == "" })
}

// Follow calls reply as messages.Follow says. It is false when the refusal came at once, or the
// asker follows the same already.
func (d *Dispatcher) Follow(asker any, m messages.Follow, reply func(answer any)) bool {
	for p := range d.queries {
		if p.follows == m && m.Path != "" && p.asker == asker {
			return false
		}
	}
	return d.add(&pending{query: followQueue(m), asker: asker, reply: reply, follows: m})
}

// Unfollow ends the asker's Follow of one path, or of all with "".
func (d *Dispatcher) Unfollow(asker any, path string) {
	maps.DeleteFunc(d.queries, func(p *pending, _ bool) bool {
		return p.asker == asker && p.follows.Path != "" && (path == "" || path == p.follows.Path)
	})
}

// Followed gives the lock paths that are followed.
func (d *Dispatcher) Followed() map[string]bool {
	all := map[string]bool{}
	for p := range d.queries {
		all[p.follows.Path] = true
	}
	return all
}

// Changed tells the followers of a path again. Call it for every event of a watched node; for a
// change of its data, with the path above, too. children: only its children have changed, or their data.
func (d *Dispatcher) Changed(path string, children bool) {
	for p := range d.queries {
		p.due = p.due || p.follows.Path == path && !(children && p.follows.PermitsOnly)
		d.start(p)
	}
}

// Connected runs the waiting queries, and all followers', because watches are gone.
func (d *Dispatcher) Connected() {
	d.connected = true
	for p := range d.queries {
		p.due = p.due || p.follows.Path != ""
		d.start(p)
	}
}

// Disconnected has queries wait until the session is connected again.
func (d *Dispatcher) Disconnected() { d.connected = false }

// EpochEnded runs all queries again in the next epoch: those under way will not be answered.
func (d *Dispatcher) EpochEnded() {
	d.connected = false
	for p := range d.queries {
		p.due = p.due || p.running
		p.running, p.pausing, p.failures = false, false, 0
	}
}

// Close refuses all queries, later ones as well, and tells all followers that nothing follows.
func (d *Dispatcher) Close() {
	d.closed = true
	for p := range d.queries {
		p.reply(p.refuse(closed))
	}
	clear(d.queries)
}

func (d *Dispatcher) add(p *pending) bool {
	if p.wrong != nil {
		p.reply(p.refuse(refusal(p.wrong)))
		return false
	}
	if d.closed {
		p.reply(p.refuse(closed))
		return false
	}
	d.queries[p], p.due = true, true
	d.start(p)
	return true
}

func (d *Dispatcher) start(p *pending) {
	if !d.connected || !p.due || p.running || p.pausing || !d.queries[p] {
		return
	}
	p.due, p.running = false, true
	var own calls
	if p.root != "" {
		own = d.session.Calls(p.root)
	}
	d.session.Run(func(conn *zkconn.Conn) func() {
		answer, err := p.run(conn, own)
		return func() { d.take(p, answer, err) }
	})
}

func (d *Dispatcher) take(p *pending, answer any, err error) {
	p.running = false
	if !d.queries[p] {
		return
	}
	if err != nil && retriable(err) {
		p.due, p.pausing = true, true
		p.failures++
		d.session.After(retry.Unknown.Pause(p.failures), func() {
			p.pausing = false
			d.start(p)
		})
		return
	}
	p.failures = 0
	if err != nil || p.follows.Path == "" {
		delete(d.queries, p)
	}
	switch {
	case err != nil:
		answer = p.refuse(refusal(err))
	case p.finish != nil:
		answer = p.finish(&d.session, answer)
	}
	p.reply(answer)
	d.start(p) // a follower's, after a change meanwhile
}

// IsQuery reports whether a message is one that a Dispatcher answers.
func IsQuery(msg any) bool { return queryOf(msg) != nil }

// Check checks a query before it is sent. The error wraps zkconn.ErrBadPath, or ErrBadQuery, also
// when the message is no query.
func Check(msg any) error {
	if q := queryOf(msg); q != nil {
		return q.wrong
	}
	return fmt.Errorf("%w: %T is no query", ErrBadQuery, msg)
}

func queryOf(msg any) *query {
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Pointer && !v.IsNil() {
		msg = v.Elem().Interface()
	}
	var q query
	switch m := msg.(type) {
	case messages.ReadQueue:
		q = readQueue(m, false)
	case messages.ReadLocks:
		q = query{wrong: CheckRoot(m.Root), refused: &messages.LockTree{Root: m.Root},
			run: func(conn *zkconn.Conn, _ calls) (any, error) { return Locks(conn, m.Root) }}
	case messages.FindMissing:
		q = query{wrong: CheckRoot(m.Path), refused: &messages.MissingFound{Path: m.Path},
			run: func(conn *zkconn.Conn, _ calls) (any, error) {
				missing, err := Missing(conn, m.Path)
				return &messages.MissingFound{Path: m.Path, Missing: missing}, err
			}}
	case messages.ReadInside:
		q = query{wrong: CheckRoot(m.Root), refused: &messages.Inside{Root: m.Root},
			finish: func(s *Session, _ any) any {
				first, all := s.Inside(m.Root)
				return &messages.Inside{Root: m.Root, Waiting: first, All: all}
			}}
	case messages.SendRevokeRequest:
		q = query{wrong: checkRevoke(m), refused: &messages.RevokeRequestSent{Path: m.Path},
			run: func(conn *zkconn.Conn, _ calls) (any, error) { return revoke(conn, m) }}
	case messages.Break:
		breaks := breaking{m.Contender, new(atomic.Bool)}
		q = query{wrong: breaks.check(), refused: &messages.Broken{Contender: m.Contender},
			run: func(conn *zkconn.Conn, _ calls) (any, error) {
				return &messages.Broken{Contender: m.Contender}, breaks.run(conn)
			}}
	case messages.SetPermits:
		q = query{wrong: checkSetPermits(m), refused: &messages.PermitsSet{Path: m.Path, Permits: m.Permits},
			run: func(conn *zkconn.Conn, _ calls) (any, error) {
				return &messages.PermitsSet{Path: m.Path, Permits: m.Permits}, setPermits(conn, m)
			}}
	case messages.FindDeadlocks:
		q = findDeadlocks(m.Root, m.Possible, func(all findings) any {
			return &messages.DeadlocksFound{Root: m.Root, Deadlocks: all.sure, Possible: all.possible}
		})
		q.refused = &messages.DeadlocksFound{Root: m.Root}
	case DeadlockProbe:
		q = findDeadlocks(m.Root, false, m.answer)
		q.refused = &DeadlockProbed{Node: m.Node}
	default:
		return nil
	}
	return &q
}
