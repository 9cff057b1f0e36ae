package inspect

import (
	"fmt"
	"maps"
	"reflect"

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
	follows string // the lock path; "" for a query that is answered once
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
	switch q := questionOf(msg).(type) {
	case query:
		d.add(&pending{query: q, asker: asker, reply: reply})
	case readInside:
		reply(d.inside(q))
	}
}

type readInside struct{ root string }

func (q readInside) check() error { return CheckRoot(q.root) }

func (q readInside) refuse(why messages.Refusal) any {
	return &messages.Inside{Refusal: why, Root: q.root}
}

func (d *Dispatcher) inside(q readInside) any {
	if err := q.check(); err != nil {
		return q.refuse(refusal(err))
	}
	if d.closed {
		return q.refuse(messages.Refusal{Reason: messages.ReasonSessionClosed})
	}
	first, all := d.session.Inside(q.root)
	return &messages.Inside{Root: q.root, Waiting: first, All: all}
}

// Withdraw drops the unanswered queries of an asker. One that acts may have acted.
func (d *Dispatcher) Withdraw(asker any) {
	maps.DeleteFunc(d.queries, func(p *pending, _ bool) bool { return p.asker == asker && p.follows == "" })
}

// Follow calls reply as messages.Follow says. It is false when the refusal came at once, or the
// asker follows the path already.
func (d *Dispatcher) Follow(asker any, path string, reply func(answer any)) bool {
	for p := range d.queries {
		if p.follows == path && path != "" && p.asker == asker {
			return false
		}
	}
	return d.add(&pending{query: followQueue{readQueue{path}}, asker: asker, reply: reply, follows: path})
}

// Unfollow ends the asker's Follow of one path, or of all with "".
func (d *Dispatcher) Unfollow(asker any, path string) {
	maps.DeleteFunc(d.queries, func(p *pending, _ bool) bool {
		return p.asker == asker && p.follows != "" && (path == "" || path == p.follows)
	})
}

// Followed gives the lock paths that are followed.
func (d *Dispatcher) Followed() map[string]bool {
	all := map[string]bool{}
	for p := range d.queries {
		all[p.follows] = true
	}
	return all
}

// Changed tells the followers of a path the queue again. Call it for every event of a watched node,
// except changes of its data.
func (d *Dispatcher) Changed(path string) {
	for p := range d.queries {
		p.due = p.due || p.follows == path
		d.start(p)
	}
}

// Connected runs the waiting queries, and all followers', because watches are gone.
func (d *Dispatcher) Connected() {
	d.connected = true
	for p := range d.queries {
		p.due = p.due || p.follows != ""
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
		p.reply(p.refuse(messages.Refusal{Reason: messages.ReasonSessionClosed}))
	}
	clear(d.queries)
}

func (d *Dispatcher) add(p *pending) bool {
	if err := p.check(); err != nil {
		p.reply(p.refuse(refusal(err)))
		return false
	}
	if d.closed {
		p.reply(p.refuse(messages.Refusal{Reason: messages.ReasonSessionClosed}))
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
	run := p.query
	if q, knows := run.(deadlockQuery); knows {
		q.own = d.session.Calls(q.root)
		run = q
	}
	d.session.Run(func(conn *zkconn.Conn) func() {
		answer, err := run.run(conn)
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
	if err != nil || p.follows == "" {
		delete(d.queries, p)
	}
	if shown, ok := answer.(*messages.Queue); ok {
		d.nameHolders(shown)
	}
	if found, ok := answer.(confirmed); ok {
		answer = found.answer(&d.session)
	}
	if err != nil {
		answer = p.refuse(refusal(err))
	}
	p.reply(answer)
	d.start(p) // a follower's, after a change meanwhile
}

func (d *Dispatcher) nameHolders(shown *messages.Queue) {
	has, _ := calls(d.session.Calls(shown.Path)).byNode()
	for i, c := range shown.Contenders {
		if k, known := has[c.At()]; known && c.Session == k.Session {
			shown.Contenders[i] = named(c, k, "")
		}
	}
}

// IsQuery reports whether a message is one that a Dispatcher answers.
func IsQuery(msg any) bool { return questionOf(msg) != nil }

// Check checks a query before it is sent. The error wraps zkconn.ErrBadPath, or ErrBadQuery, also
// when the message is no query.
func Check(msg any) error {
	if q := questionOf(msg); q != nil {
		return q.check()
	}
	return fmt.Errorf("%w: %T is no query", ErrBadQuery, msg)
}

func questionOf(msg any) question {
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Pointer && !v.IsNil() {
		msg = v.Elem().Interface()
	}
	switch m := msg.(type) {
	case messages.ReadQueue:
		return readQueue{m.Path}
	case messages.ReadLocks:
		return readLocks{m.Root}
	case messages.FindMissing:
		return findMissing{m.Path}
	case messages.ReadInside:
		return readInside{m.Root}
	case messages.SendRevokeRequest:
		return revoke{m}
	case messages.Break:
		return newBreaking(m.Contender)
	case messages.SetPermits:
		return setPermits{m}
	case messages.FindDeadlocks:
		return findDeadlocks(m)
	case DeadlockProbe:
		return m.query()
	}
	return nil
}
