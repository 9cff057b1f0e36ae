package inspect

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Break deletes a contender's node by force; Queue gives the contender. See messages.Break for what
// that means. It never deletes another's node, even where another has come to the same path since.
// The error wraps ErrGone where there is nothing to delete any more, and ErrBadQuery or
// zkconn.ErrBadPath where the contender is not well formed.
func Break(conn *zkconn.Conn, contender messages.Contender) error {
	return act(conn, newBreaking(contender))
}

type breaking struct {
	messages.Contender
	doubt *atomic.Bool // a delete was sent whose outcome is unknown
}

func newBreaking(contender messages.Contender) breaking { return breaking{contender, new(atomic.Bool)} }

func (q breaking) check() error {
	for _, path := range []string{q.Path, q.At()} {
		if err := zkconn.CheckPath(path); err != nil {
			return err
		}
	}
	if !q.HasNode() { // it waits in a cohort
		return fmt.Errorf("%w %q: the contender has no node", zkconn.ErrBadPath, q.Path)
	}
	if _, ok := queue.Parse(q.Node); !ok && q.Mode != messages.Contest {
		return fmt.Errorf("%w: %q is not the name of a contender's node", ErrBadQuery, q.Node)
	}
	if q.Token == 0 {
		return fmt.Errorf("%w: contender %s has no token to know its node by", ErrBadQuery, q.At())
	}
	return nil
}

func (q breaking) refuse(why messages.Refusal) any {
	return &messages.Broken{Refusal: why, Contender: q.Contender}
}

// run deletes the node in the version in which it was last seen to be the right one.
func (q breaking) run(conn *zkconn.Conn) (any, error) {
	if err := conn.CatchUp(q.At()); err != nil {
		return nil, err
	}
	for {
		version, err := q.find(conn)
		if err == nil && q.Mode == messages.Contest && version == 0 {
			version, err = q.mark(conn)
		}
		if err == nil {
			if err = conn.DeleteAt(q.At(), version); zkconn.OutcomeOf(err) == zkconn.Unknown {
				q.doubt.Store(true)
			}
		}
		switch {
		case errors.Is(err, zkconn.ErrNoNode), errors.Is(err, ErrGone):
			if !q.doubt.Load() { // otherwise the delete was most likely ours, though perhaps somebody else's
				return nil, fmt.Errorf("%s: %w", q.At(), ErrGone)
			}
		case errors.Is(err, zkconn.ErrBadVersion): // somebody has written to it: look again
			continue
		case err != nil:
			return nil, err
		}
		return &messages.Broken{Contender: q.Contender}, nil
	}
}

// find gives the version of the node, when it is still the contender's.
func (q breaking) find(conn *zkconn.Conn) (version int32, err error) {
	stat, exists, err := conn.Exists(q.At())
	if err != nil {
		return 0, err
	}
	if !exists || stat.Czxid != q.Token.Zxid() {
		return 0, ErrGone
	}
	return stat.Version, nil
}

// mark asks the holder of a contest for the lock, so that its node gets a version that no new node
// has. Otherwise the delete could hit another's: when this node goes, another contender may make
// one at the same path, with the same version until somebody writes to it. If the other one is
// there already, it is merely asked.
func (q breaking) mark(conn *zkconn.Conn) (version int32, err error) {
	err = conn.SetDataAt(q.At(), []byte(queue.RevokeRequest), 0)
	if err != nil && !errors.Is(err, zkconn.ErrNoAuth) { // what may not be written may still be deleted
		return 0, err
	}
	return q.find(conn)
}
