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

// create makes a node, and the lock path where that is missing. A lock path that vanishes in between is made again, a bounded
// number of times.
func (k Carrier) create(q *coordinator.Create) *coordinator.Created {
	a := &coordinator.Created{Info: q.Info}
	err := backoff.Retry(func() error {
		made, err := k.createOnce(q.Spec, q.Behind, a)
		a.Node, a.Failure = madeOf(made), failureOf(err)
		if errors.Is(err, zkconn.ErrNoNode) && made.Name == "" {
			a.Info = coordinator.Info{}
			return errVanished
		}
		return nil
	}, backoff.WithMaxRetries(backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(5*time.Millisecond), backoff.WithMaxInterval(200*time.Millisecond)), 8))
	_ = err // what has failed last is in the answer
	return a
}

// createOnce finds out what kind of lock path it is, where that is not known, records a semaphore's permits, and makes the
// node with as much as may be learnt at the same time: how many there are in the queue, or else the queue itself.
func (k Carrier) createOnce(sp *coordinator.Spec, behind int, a *coordinator.Created) (made zkconn.Created, err error) {
	if !a.Info.Exists {
		if a.Info, err = k.probe(sp.Path); err != nil {
			return made, err
		}
	}
	if sp.Permits > 0 && !a.Info.Permits {
		if err := k.recordPermits(sp.Path, sp.Permits); err != nil {
			return made, err
		}
		a.Info.Permits, a.Info.Counted = true, false
	}
	prefix, data := sp.Style.Prefix(sp.GUID), ownerData(sp, 0, behind)
	if a.Info.Counted {
		made, err = k.Conn.CreateCounted(sp.Path, prefix, data)
		if !errors.Is(err, zkconn.ErrNoAuth) {
			return made, err
		}
		a.Info.Counted = false // perhaps we may create here, but not write
	}
	// One connection's requests are carried out in order: the listing that is sent behind the create shows the node.
	return k.Conn.CreateBefore(sp.Path, prefix, data, func() { a.Early = k.readQueue(sp.Path, sp.Permits) })
}

// probe finds out what kind of lock path it is, and makes it where it does not exist.
func (k Carrier) probe(path string) (coordinator.Info, error) {
	data, _, err := k.Conn.Get(path)
	if errors.Is(err, zkconn.ErrNoNode) {
		if err := k.Conn.EnsureParents(path); err != nil {
			return coordinator.Info{}, err
		}
		// Somebody else may have made it, with data. When it is gone again, what is done in it next says so.
		if data, _, err = k.Conn.Get(path); errors.Is(err, zkconn.ErrNoNode) {
			return coordinator.Info{Exists: true}, nil
		}
	}
	switch {
	case errors.Is(err, zkconn.ErrNoAuth): // what we may not read we do not overwrite
		return coordinator.Info{Exists: true}, nil
	case err != nil:
		return coordinator.Info{}, err
	}
	return coordinator.Info{Exists: true, Counted: k.ParentWrites && len(data) == 0}, nil
}
