package carrier

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// removeContest deletes the one node of a contest with its guard, in one transaction, if both were made in one. Otherwise
// somebody has deleted one of them by itself: it deletes the guard alone, or the node of this czxid in the version in which
// it was read, because somebody else may have made it anew since.
func (k Carrier) removeContest(q *coordinator.RemoveContest) error {
	for {
		guard, guarded, err := k.Conn.Exists(q.Guard)
		if err != nil {
			return err
		}
		node, exists, err := k.Conn.Exists(q.Path)
		switch {
		case err != nil:
			return err
		case guarded && exists && node.Czxid == guard.Czxid:
			_, err = k.Conn.Commit(nil, []string{q.Guard, q.Path}, nil, nil)
		case guarded:
			if err = k.Conn.Delete(q.Guard); err == nil {
				return zkconn.ErrNoNode
			}
		case exists && node.Czxid == q.Czxid:
			err = k.Conn.DeleteAt(q.Path, node.Version)
		default:
			return zkconn.ErrNoNode
		}
		if !errors.Is(err, zkconn.ErrNoNode) && !errors.Is(err, zkconn.ErrBadVersion) { // else it has changed: look again
			return err
		}
	}
}
