package carrier

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// find looks for the node of a request and proves with a committed transaction what it has found. A node that is known needs
// nothing but the proof. Otherwise the list is read after a sync, because a follower that lags would not show it (the
// library's own search makes a second node), and a node with the GUID is the request's only when its session owns it
// (CURATOR-604). Of several, the first in the queue is kept and the others are deleted.
func (k Carrier) find(q *coordinator.Find) *coordinator.Found {
	a := &coordinator.Found{Name: q.Known}
	if q.Spec.One != "" {
		return k.findContest(q)
	}
	if q.Known == "" {
		if err := k.seek(q, a); err != nil || a.Name == "" {
			a.Failure = failureOf(err)
			return a
		}
	}
	path := q.Spec.At(a.Name)
	switch _, err := k.Conn.Heartbeat(path); {
	case errors.Is(err, zkconn.ErrNoNode):
		return &coordinator.Found{}
	case err != nil && !zkconn.CommittedRefusal(err):
		return &coordinator.Found{Failure: failureOf(fmt.Errorf("verifying %s: %w", path, err))}
	}
	return a
}

// seek looks for nodes of the request. That there is none is believed only behind a committed transaction: a leader answers
// its own clients' sync at once, also when it has not made a change itself yet that it told others of (see
// [zkconn.Conn.CatchUp]).
func (k Carrier) seek(q *coordinator.Find, a *coordinator.Found) error {
	if err := k.Conn.Sync(q.Spec.Path); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
		return err
	}
	if err := k.see(q, a); err != nil || a.Name != "" {
		return err
	}
	if err := k.Conn.CatchUp(q.Spec.Path); err != nil {
		return err
	}
	return k.see(q, a)
}

// see is seek for what our server shows.
func (k Carrier) see(q *coordinator.Find, a *coordinator.Found) error {
	children, err := k.Conn.Children(q.Spec.Path)
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	children = slices.DeleteFunc(children, func(child string) bool { return !strings.Contains(child, q.GUID) })
	slices.SortFunc(children, func(a, b string) int {
		x, _ := queue.Sequence(a)
		y, _ := queue.Sequence(b)
		return int(x) - int(y)
	})
	for _, child := range children {
		stat, exists, err := k.ownStat(q, child)
		switch {
		case err != nil:
			return err
		case !exists || stat.EphemeralOwner != k.Conn.SessionID():
		case a.Name == "":
			a.Name, a.Czxid = child, stat.Czxid
		default:
			if _, err := k.Conn.Delete(q.Spec.At(child)); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
				return err
			}
		}
	}
	return nil
}

// ownStat tells whose node with the request's GUID is. Servers since 3.8.4 and 3.9.2 do not say that to a session that may
// not read it (ZOOKEEPER-2590), but they do in the reply to a write: so the data that it was made with are written again. A
// node that may not be written either is deleted, for nothing but its name tells that it is ours: the request has none then.
func (k Carrier) ownStat(q *coordinator.Find, child string) (stat zkconn.Stat, exists bool, err error) {
	path := q.Spec.At(child)
	stat, exists, err = k.Conn.Exists(path)
	if !errors.Is(err, zkconn.ErrNoAuth) {
		return stat, exists, err
	}
	stat, err = k.Conn.Write(path, ownerData(q.Spec, q.Place, 0))
	if errors.Is(err, zkconn.ErrNoAuth) {
		_, err = k.Conn.Delete(path)
		stat = zkconn.Stat{}
	}
	if errors.Is(err, zkconn.ErrNoNode) {
		return zkconn.Stat{}, false, nil
	}
	return stat, err == nil, err
}
