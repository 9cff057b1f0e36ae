package carrier

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// errVanished: the lock path has vanished, as an empty container does.
var errVanished = errors.New("the lock path has vanished")

// create makes a node, and the lock path where that is missing, at once. A lock path that vanishes in between is made
// again, a bounded number of times. Where the node is refused for good, the lock path that was made for it goes again.
func (k Carrier) create(q *coordinator.Create) *coordinator.Created {
	a := &coordinator.Created{Info: q.Info}
	var made zkconn.Parents
	if k.tryCreate(q, a, &made) {
		err := backoff.Retry(func() error {
			if k.tryCreate(q, a, &made) {
				return errVanished
			}
			return nil
		}, backoff.WithMaxRetries(backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(5*time.Millisecond), backoff.WithMaxInterval(200*time.Millisecond)), 8))
		_ = err // what has failed last is in the answer
	}
	if a.Failure.Outcome == coordinator.Refused && a.Node.Name == "" {
		made.Remove(permitsData(q.Spec.Permits))
	}
	return a
}

// tryCreate makes a node, and tells whether it is to be tried again, because there was no lock path, and there is now.
func (k Carrier) tryCreate(q *coordinator.Create, a *coordinator.Created, parents *zkconn.Parents) (again bool) {
	made, err := k.createOnce(q, a)
	a.Node, a.Failure = madeOf(made), failureOf(err)
	if !errors.Is(err, zkconn.ErrNoNode) || made.Name != "" {
		return false
	}
	a.Info = coordinator.Info{}
	more, err := k.Conn.MakeParents(q.Spec.Path)
	if err != nil {
		a.Failure = failureOf(err)
		return false
	}
	*parents = parents.And(more)
	return true
}

// createOnce records a semaphore's permits, and makes the node. The queue that is listed behind it is not older, because the
// requests of one connection are carried out in order.
func (k Carrier) createOnce(q *coordinator.Create, a *coordinator.Created) (made zkconn.Created, err error) {
	sp := q.Spec
	if sp.Permits > 0 && !a.Info.Permits {
		if err := k.recordPermits(sp.Path, sp.Permits); err != nil {
			return made, err
		}
		a.Info.Permits = true
	}
	prefix, data := sp.Style.Prefix(sp.GUID), ownerData(sp, 0, q.Waiting)
	if q.List {
		made, err = k.Conn.CreateBefore(sp.Path, prefix, data, func() { a.Early = k.readQueue(sp.Path, sp.Permits) })
	} else {
		made, err = k.Conn.CreatePlain(sp.Path, prefix, data)
	}
	a.Info.Exists = err == nil || a.Info.Exists
	return made, err
}
