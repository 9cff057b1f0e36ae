package carrier

import (
	"maps"
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// commit carries out several creates and deletes in one transaction, and lists behind it, in the same round trip, the
// queues that are wanted. A delete by itself is no transaction, where nothing else must be there.
func (k Carrier) commit(q *coordinator.Commit) *coordinator.Committed {
	if len(q.Creates) == 0 && len(q.Deletes) == 1 && len(q.Exist) == 0 {
		_, err := k.Conn.Delete(q.Deletes[0])
		return &coordinator.Committed{Failure: failureOf(err)}
	}
	creates := make([]zkconn.NewNode, len(q.Creates))
	listed := map[string]*coordinator.View{}
	for i, n := range q.Creates {
		creates[i] = zkconn.NewNode{Parent: n.Spec.Path, Prefix: n.Spec.Style.Prefix(n.Spec.GUID),
			Data: ownerData(n.Spec, n.Place, n.Waiting)}
		if n.List {
			listed[n.Spec.Path] = nil
		}
	}
	var list func()
	if len(listed) > 0 {
		list = func() { k.listAll(listed) }
	}
	made, _, err := k.Conn.Commit(creates, q.Deletes, q.Exist, list)
	a := &coordinator.Committed{Failure: failureOf(err)}
	for i, m := range made {
		a.Made = append(a.Made, madeOf(m))
		a.Early = append(a.Early, listed[q.Creates[i].Spec.Path])
	}
	return a
}

// listAll reads several queues at the same time.
func (k Carrier) listAll(listed map[string]*coordinator.View) {
	paths := slices.Collect(maps.Keys(listed))
	if len(paths) == 1 {
		listed[paths[0]] = k.readQueue(paths[0], 0)
		return
	}
	views := make([]*coordinator.View, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() { views[i] = k.readQueue(path, 0) })
	}
	all.Wait()
	for i, path := range paths {
		listed[path] = views[i]
	}
}
