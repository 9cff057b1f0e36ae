package carrier

import (
	"errors"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// create makes a node, and the lock path where that is missing, at once. A lock path that vanishes in between is made
// again, a bounded number of times. Where the node is refused for good, the lock path that was made for it goes again.
func (k Carrier) create(q *coordinator.Create) *coordinator.Created {
	a := &coordinator.Created{Info: q.Info}
	var parents zkconn.Parents
	for tries := 1; ; tries++ {
		made, early, err := k.createOnce(q, a)
		a.Node, a.Failure = madeOf(made), failureOf(err)
		a.Node.First, a.Node.Early = q.Spec.One != "" && made.Name != "", early
		if !errors.Is(err, zkconn.ErrNoNode) || made.Name != "" || q.Spec.Path == "" {
			break
		}
		a.Info = coordinator.Info{}
		more, err := k.makeParents(q)
		if err != nil {
			a.Failure = failureOf(err)
			break
		}
		if parents = parents.And(more); tries == retry.VanishedTries {
			break
		}
		if tries > 1 {
			time.Sleep(retry.Vanished.Pause(tries - 1)) // the path that was just made is gone again
		}
	}
	if a.Failure.Outcome == coordinator.Refused && a.Node.Name == "" {
		parents.Remove(permitsData(q.Spec.Permits))
	}
	return a
}

// createOnce records a semaphore's permits, and makes the node. The queue that is listed behind it is not older, because the
// requests of one connection are carried out in order.
func (k Carrier) createOnce(q *coordinator.Create, a *coordinator.Created) (made zkconn.Created, early *coordinator.View, err error) {
	sp := q.Spec
	if sp.Permits > 0 && !a.Info.Permits {
		if err := k.recordPermits(sp.Path, sp.Permits); err != nil {
			return made, nil, err
		}
		a.Info.Permits = true
	}
	prefix, data := sp.Style.Prefix(q.GUID), ownerData(sp, 0, q.GUID)
	switch {
	case sp.One != "":
		made, err = k.Conn.CreateGuarded(sp.Path, sp.One, sp.Guard(q.GUID), data)
		return made, nil, err
	case q.List:
		made, err = k.Conn.CreateBefore(sp.Path, prefix, data, func() { early = k.readQueue(sp.Path, sp.Permits) })
	default:
		made, err = k.Conn.CreatePlain(sp.Path, prefix, data)
	}
	a.Info.Exists = err == nil || a.Info.Exists
	if err == nil {
		err = k.Conn.CheckFirst(sp.At(made.Name))
	}
	return made, early, err
}

// commit carries out several creates and deletes in one transaction, and lists behind it, in the same round trip, the
// queues that are wanted. A delete by itself is no transaction, where nothing else must be there.
func (k Carrier) commit(q *coordinator.Commit) *coordinator.Committed {
	if len(q.Creates) == 0 && len(q.Deletes) == 1 && len(q.Exist) == 0 {
		err := k.Conn.Delete(q.Deletes[0])
		return &coordinator.Committed{Failure: failureOf(err)}
	}
	creates := make([]zkconn.NewNode, len(q.Creates))
	listed := map[string]*coordinator.View{}
	for i, n := range q.Creates {
		creates[i] = zkconn.NewNode{Parent: n.Spec.Path, Prefix: n.Spec.Style.Prefix(n.GUID),
			Data: ownerData(n.Spec, n.Place, n.GUID)}
		if n.List {
			listed[n.Spec.Path] = nil
		}
	}
	var list func()
	if len(listed) > 0 {
		list = func() { k.listAll(listed) }
	}
	made, err := k.Conn.Commit(creates, q.Deletes, q.Exist, list)
	a := &coordinator.Committed{Failure: failureOf(err)}
	for i, m := range made {
		a.Made = append(a.Made, madeOf(m))
		a.Made[i].Early = listed[q.Creates[i].Spec.Path]
	}
	return a
}

// listAll reads several queues at the same time.
func (k Carrier) listAll(listed map[string]*coordinator.View) {
	var all sync.WaitGroup
	for path := range listed {
		view := &coordinator.View{}
		listed[path] = view
		all.Go(func() { *view = *k.readQueue(path, 0) })
	}
	all.Wait()
}
