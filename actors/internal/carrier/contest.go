package carrier

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// createContest makes the one node of a contest, or reads the one that exists. A session that may
// not read its own node is refused by [zkconn.Conn.CreateNamed]: the name does not tell the owner, so
// nothing could resolve a lost reply, or tell which node to delete.
func (k Carrier) createContest(sp *coordinator.Spec) *coordinator.Created {
	made, err := k.Conn.CreateNamed(sp.Path, sp.One, ownerData(sp, 0), "")
	if errors.Is(err, zkconn.ErrNoNode) && made.Name == "" && sp.Path != "" {
		var parents zkconn.Parents
		if parents, err = k.Conn.MakeParents(sp.Path); err == nil {
			made, err = k.Conn.CreateNamed(sp.Path, sp.One, ownerData(sp, 0), "")
			if zkconn.OutcomeOf(err) == zkconn.Refused && !errors.Is(err, zkconn.ErrNodeExists) {
				parents.Remove(nil)
			}
		}
	}
	a := &coordinator.Created{Node: madeFirst(made), Failure: failureOf(err)}
	if errors.Is(err, zkconn.ErrNodeExists) {
		one, lookErr := k.readContest(sp)
		if lookErr != nil && zkconn.OutcomeOf(lookErr) != zkconn.Refused {
			return &coordinator.Created{Failure: failureOf(lookErr)}
		}
		if one == nil {
			one = &coordinator.OneNode{} // gone by now, or not ours to read: another's
		}
		a.Existing = one
	}
	return a
}

// findContest reads the one node of a contest, after a committed transaction. A transaction after
// the read would prove that a node of that name exists, but not whose it is. The sync adds to the
// evidence for the lease, as in search.
func (k Carrier) findContest(q *coordinator.Find) *coordinator.Found {
	a := &coordinator.Found{}
	path := q.Spec.At(q.Spec.One)
	err := k.Conn.Sync(path)
	if err == nil || errors.Is(err, zkconn.ErrNoNode) {
		err = k.Conn.CatchUp(path)
	}
	if err == nil {
		a.One, err = k.readContest(q.Spec)
	}
	a.Failure = failureOf(err)
	return a
}

// readContest reads the one node of a contest; nil when it does not exist.
func (k Carrier) readContest(sp *coordinator.Spec) (*coordinator.OneNode, error) {
	data, stat, err := k.Conn.Get(sp.At(sp.One))
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, _ := queue.ParseOwner(data)
	return &coordinator.OneNode{Ours: stat.EphemeralOwner == k.Conn.SessionID(), Czxid: stat.Czxid, GUID: o.ID}, nil
}

// removeContest deletes the one node of a contest if it is still the one with this czxid. (Between the look and the delete an
// operator could still replace it; ZooKeeper has no delete that looks at who made a node.)
func (k Carrier) removeContest(q *coordinator.RemoveContest) error {
	_, stat, err := k.Conn.Get(q.Path)
	if err == nil && stat.Czxid == q.Czxid {
		err = k.Conn.Delete(q.Path)
	}
	return err
}
