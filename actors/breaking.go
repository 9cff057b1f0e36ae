package actors

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// breakTask deletes a contender's node by force.
type breakTask struct {
	messages.Break
	doubt *atomic.Bool // a delete was sent whose outcome is unknown
}

func (t breakTask) check() error {
	c := t.Contender
	for _, path := range []string{c.Path, c.At()} {
		if err := zkconn.CheckPath(path); err != nil {
			return err
		}
	}
	if _, ok := queue.Parse(c.Node); !ok && c.Mode != messages.Contest {
		return fmt.Errorf("%w: %q is not the name of a contender's node", ErrBadAcquire, c.Node)
	}
	if c.Token == 0 {
		return fmt.Errorf("%w: contender %s has no token to know its node by", ErrBadAcquire, c.At())
	}
	return nil
}

func (t breakTask) refuse(why messages.Refusal) any {
	return &messages.Broken{Refusal: why, Contender: t.Contender}
}

// answer deletes the node in the version in which it was last seen to be the right one.
func (t breakTask) answer(conn *zkconn.Conn) (any, error) {
	path := t.Contender.At()
	if err := catchUp(conn, path); err != nil {
		return nil, err
	}
	for {
		version, err := t.find(conn)
		if err == nil && t.Contender.Mode == messages.Contest && version == 0 {
			version, err = t.mark(conn)
		}
		if err == nil {
			if err = conn.DeleteAt(path, version); zkconn.OutcomeOf(err) == zkconn.Unknown {
				t.doubt.Store(true)
			}
		}
		switch {
		case errors.Is(err, zkconn.ErrNoNode), errors.Is(err, errGone):
			if t.doubt.Load() { // perhaps somebody else's, but most likely ours
				return &messages.Broken{Contender: t.Contender}, nil
			}
			return nil, fmt.Errorf("%s: %w", path, errGone)
		case errors.Is(err, zkconn.ErrBadVersion): // somebody has written to it: look again
		case err != nil:
			return nil, err
		default:
			return &messages.Broken{Contender: t.Contender}, nil
		}
	}
}

// find gives the version of the node, when it is still the contender's.
func (t breakTask) find(conn *zkconn.Conn) (version int32, err error) {
	stat, exists, err := conn.Exists(t.Contender.At())
	if err != nil {
		return 0, err
	}
	if !exists || stat.Czxid != t.Contender.Token.Zxid() {
		return 0, errGone
	}
	return stat.Version, nil
}

// mark asks the holder of a contest for the lock, so that its node has a version that a new one has not. Another
// contender's node may be at the same path as soon as this one is gone, and in the same version as long as nobody
// has written to either; then the delete could meet the wrong one. If it is the other that is asked, by the
// same chance, it is merely asked.
func (t breakTask) mark(conn *zkconn.Conn) (version int32, err error) {
	err = conn.SetDataAt(t.Contender.At(), []byte(unlockData), 0)
	if err != nil && !errors.Is(err, zkconn.ErrNoAuth) { // what may not be written may still be deleted
		return 0, err
	}
	return t.find(conn)
}
