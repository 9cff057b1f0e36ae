package carrier

import (
	"bytes"
	"errors"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// CarryOut gives the answer to a query, once there is one; nil to a query that it does not know.
func (k Carrier) CarryOut(query coordinator.Query) coordinator.Answer {
	switch q := query.(type) {
	case *coordinator.Create:
		return k.create(q)
	case *coordinator.CreateAt:
		made, err := k.Conn.CreateNamed(q.Spec.Path, q.Name, ownerData(q.Spec, 0, ""), q.Beside)
		return &coordinator.Created{Node: madeFirst(made), Failure: failureOf(err)}
	case *coordinator.SeekReclaimable:
		return k.seekReclaimable(q.Spec)
	case *coordinator.TakeOver:
		return k.takeOver(q)
	case *coordinator.Commit:
		return k.commit(q)
	case *coordinator.List:
		return &coordinator.Listed{View: *k.readQueue(q.Path, q.Permits)}
	case *coordinator.Watch:
		data, stat, err := k.Conn.GetWatched(q.Path)
		return &coordinator.Read{Data: data, Version: stat.Version, Czxid: stat.Czxid,
			Persistent: err == nil && stat.EphemeralOwner == 0, Failure: failureOf(err)}
	case *coordinator.WatchChildren:
		children, err := k.Conn.ChildrenWatched(q.Path)
		return &coordinator.Listed{View: coordinator.View{Queue: queue.NewListing(children, 0), Failure: failureOf(err)}}
	case *coordinator.WatchContention:
		return k.watchContention(q)
	case *coordinator.ReadOwn:
		return k.readOwn(q)
	case *coordinator.Look:
		nodes, err := k.look(q)
		return &coordinator.Looked{Nodes: nodes, Failure: failureOf(err)}
	case *coordinator.RemoveContest:
		return &coordinator.Ack{Failure: failureOf(k.removeContest(q))}
	case *coordinator.Check:
		err := k.Conn.Heartbeat(q.Path)
		return &coordinator.Ack{Failure: failureOf(err)}
	}
	return nil
}

// watchContention reads the queue and the node, and has the servers tell when they change.
func (k Carrier) watchContention(q *coordinator.WatchContention) *coordinator.Contention {
	children, err := k.Conn.ChildrenWatched(q.Path)
	if err != nil {
		return &coordinator.Contention{Spent: true, Failure: failureOf(err)}
	}
	if !queue.NewListing(children, 0).Alone(q.Node) {
		return &coordinator.Contention{}
	}
	data, _, err := k.Conn.GetWatched(q.Path + "/" + q.Node)
	return &coordinator.Contention{Alone: true, Spent: err != nil || queue.IsRevokeRequest(data), Failure: failureOf(err)}
}

// readOwn reads a holder's own node and watches it. In a semaphore it first tells the waiter
// behind, which watches the node, that this request holds: then that waiter has to watch all
// holders. To tell it, it writes the data that the node has already, because somebody may just have
// written a revoke request there. Where we may not write the node, the waiter learns it from its
// slow re-list.
//
// Where a revoke request has replaced the node's data, as Curator's do, readOwn writes them again (saysAgain), beside
// the request. The event of that write has the node read once more.
func (k Carrier) readOwn(q *coordinator.ReadOwn) *coordinator.Read {
	for tries := 0; q.Announce && tries < 3; tries++ {
		data, stat, err := k.Conn.Get(q.Path)
		if err == nil {
			err = k.Conn.SetDataAt(q.Path, data, stat.Version)
		}
		if !errors.Is(err, zkconn.ErrBadVersion) {
			break
		}
	}
	data, stat, err := k.Conn.GetWatched(q.Path)
	if err == nil {
		if said := saysAgain(q, data, stat.Czxid); said != nil {
			_ = k.Conn.SetDataAt(q.Path, said, stat.Version) // it is for people only, so a failure is ignored
		}
	}
	return &coordinator.Read{Data: data, Version: stat.Version, Czxid: stat.Czxid, Failure: failureOf(err)}
}

// saysAgain gives the data that a holder writes beside a revoke request; nil where the node says it, or is another's.
// In a contest the request may have been meant for the previous holder, and its data may describe that holder: see
// queue.Asked.
func saysAgain(q *coordinator.ReadOwn, data []byte, czxid int64) []byte {
	contest := q.Says.Spec.One != ""
	if contest && czxid != q.Czxid || !contest && !queue.Overwritten(data) || !queue.IsRevokeRequest(data) {
		return nil
	}
	said := queue.Asked(ownerData(q.Says.Spec, q.Says.Place, q.Says.GUID))
	if bytes.Equal(data, said) {
		return nil
	}
	return said
}
