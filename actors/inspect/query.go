package inspect

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// query is what a message asks for.
type query interface {
	// check tells what is wrong with the query itself.
	check() error
	// run reads and does what is asked for, and gives the message that answers, or what was
	// confirmed. It is called on goroutines, again where an outcome is unknown, and in a new epoch
	// while a call of the old one has not returned.
	run(conn *zkconn.Conn) (answer any, err error)
	// refuse is the answer when there is none.
	refuse(why messages.Refusal) any
}

// IsQuery tells whether a message is one that a Dispatcher answers.
func IsQuery(msg any) bool { return queryOf(msg) != nil }

// Check checks a query before it is sent. The error wraps zkconn.ErrBadPath, or ErrBadQuery, also
// when the message is no query.
func Check(msg any) error {
	if q := queryOf(msg); q != nil {
		return q.check()
	}
	return fmt.Errorf("%w: %T is no query", ErrBadQuery, msg)
}

// act checks and runs a query whose answer says no more than that it was done.
func act(conn *zkconn.Conn, q query) error {
	if err := q.check(); err != nil {
		return err
	}
	_, err := q.run(conn)
	return err
}

// queryOf gives what a message asks for; nil for one that asks nothing.
func queryOf(msg any) query {
	switch m := msg.(type) {
	case *messages.ReadQueue:
		return readQueue{m.Path}
	case messages.ReadQueue:
		return readQueue{m.Path}
	case *messages.ReadLocks:
		return readLocks{m.Root}
	case messages.ReadLocks:
		return readLocks{m.Root}
	case *messages.FindMissing:
		return findMissing{m.Path}
	case messages.FindMissing:
		return findMissing{m.Path}
	case *messages.SendRevokeRequest:
		return revoke{*m}
	case messages.SendRevokeRequest:
		return revoke{m}
	case *messages.Break:
		return newBreaking(m.Contender)
	case messages.Break:
		return newBreaking(m.Contender)
	case *messages.SetPermits:
		return setPermits{*m}
	case messages.SetPermits:
		return setPermits{m}
	case *messages.FindDeadlocks:
		return findDeadlocks(*m)
	case messages.FindDeadlocks:
		return findDeadlocks(m)
	case *DeadlockProbe:
		return m.query()
	}
	return nil
}
