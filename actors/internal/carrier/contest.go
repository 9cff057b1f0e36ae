package carrier

import (
	"errors"
	"path"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// createContest makes the one node of a contest with its guard, or reads the one that exists. A session
// that may not read its own node is refused by [zkconn.Conn.CreateGuarded]: the name does not tell the
// owner, so nothing could resolve a lost reply, or tell which node to delete.
func (k Carrier) createContest(q *coordinator.Create) *coordinator.Created {
	sp, data := q.Spec, contestData(q.Spec, 0, q.Guard)
	made, err := k.Conn.CreateGuarded(sp.Path, sp.One, q.Guard, data)
	if errors.Is(err, zkconn.ErrNoNode) && made.Name == "" && sp.Path != "" {
		var parents zkconn.Parents
		if parents, err = k.makeParents(q); err == nil {
			made, err = k.Conn.CreateGuarded(sp.Path, sp.One, q.Guard, data)
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
// evidence for the lease, as in search. A guard that was left without its node is deleted.
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
	if err == nil && q.Guard != "" {
		err = k.deleteLeft(q, a.One)
	}
	a.Failure = failureOf(err)
	return a
}

// deleteLeft deletes the guard of a request, if it does not belong to the node of the contest that there is now: a node
// and its guard have one czxid. It looks first. Where there is no guard, a late create may yet make it with its node, and
// a late delete would leave that node without it.
func (k Carrier) deleteLeft(q *coordinator.Find, one *coordinator.OneNode) error {
	ours := one != nil && one.Ours
	if ours && one.Czxid == q.Czxid {
		return nil
	}
	guard := q.Spec.At(q.Guard)
	stat, exists, err := k.Conn.Exists(guard)
	switch {
	case errors.Is(err, zkconn.ErrNoAuth):
		if ours && q.Czxid == 0 && (one.Guard == "" || one.Guard == q.Guard) {
			return nil // it may be the guard of that node
		}
	case err != nil:
		return err
	case !exists || ours && one.Czxid == stat.Czxid:
		return nil
	}
	if err = k.Conn.Delete(guard); errors.Is(err, zkconn.ErrNoNode) {
		return nil
	}
	return err
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
	if o.ID == "" {
		o.Guard = "" // a revoke request has left the data of a holder, who may be the one before: see queue.Asked
	}
	return &coordinator.OneNode{Ours: stat.EphemeralOwner == k.Conn.SessionID(), Czxid: stat.Czxid, GUID: o.ID,
		Guard: o.Guard}, nil
}

// removeContest deletes the one node of a contest, if it is still the one with this czxid, and its guard,
// in one transaction. Where that node is gone it deletes the guard alone, because somebody has deleted
// the node by itself.
//
// Where no guard is found, because somebody has deleted it by itself, the node is deleted in the version
// in which it was read. It is read again after the guard was found missing: a removal deletes both, so
// somebody else may have made the node anew since.
func (k Carrier) removeContest(q *coordinator.RemoveContest) error {
	parent, _ := path.Split(q.Path)
	guard, read, searched := q.Guard, false, false
	for {
		data, stat, err := k.Conn.Get(q.Path)
		if err != nil && !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
		if err != nil || stat.Czxid != q.Czxid {
			if failed := k.removeGuard(q); failed != nil {
				return failed
			}
			return err
		}
		if o, _ := queue.ParseOwner(data); guard == "" && !read {
			guard, read = o.Guard, true
		}
		if guard == "" && !searched {
			if guard, err = k.searchGuard(q); err != nil {
				return err
			}
			searched = true
		}
		if guard == "" {
			err = k.Conn.DeleteAt(q.Path, stat.Version)
		} else if _, err = k.Conn.Commit(nil, []string{parent + guard, q.Path}, nil, nil); isMissing(err, parent+guard) {
			guard, read = "", true
		}
		if !errors.Is(err, zkconn.ErrNoNode) && !errors.Is(err, zkconn.ErrBadVersion) { // else it has changed: look again
			return err
		}
	}
}

// isMissing reports whether an operation was refused because this node does not exist.
func isMissing(err error, path string) bool {
	var refused *zkconn.Error
	return errors.Is(err, zkconn.ErrNoNode) && errors.As(err, &refused) && refused.Path == path
}

// removeGuard deletes the guard of a node that is gone.
func (k Carrier) removeGuard(q *coordinator.RemoveContest) (err error) {
	guard := q.Guard
	if guard == "" {
		if guard, err = k.searchGuard(q); err != nil || guard == "" {
			return err
		}
	}
	parent, _ := path.Split(q.Path)
	if err = k.Conn.Delete(parent + guard); errors.Is(err, zkconn.ErrNoNode) {
		return nil
	}
	return err
}

// searchGuard searches for the guard of a node whose data do not tell it, because somebody has replaced
// them: the two have one owner and one czxid. It gives "" where there is none, or none may be seen.
func (k Carrier) searchGuard(q *coordinator.RemoveContest) (string, error) {
	parent, one := path.Split(q.Path)
	if parent == "/" {
		return k.ownGuard(q, parent, one, k.Conn.RootChildren)
	}
	return k.ownGuard(q, parent, one, func() ([]string, error) { return k.Conn.Children(strings.TrimSuffix(parent, "/")) })
}

func (k Carrier) ownGuard(q *coordinator.RemoveContest, parent, one string, list func() ([]string, error)) (string, error) {
	children, err := list()
	if err != nil {
		return "", unlessUnseen(err)
	}
	for _, guard := range queue.GuardsOf(one, children) {
		stat, _, err := k.Conn.Exists(parent + guard)
		if err := unlessUnseen(err); err != nil {
			return "", err
		}
		if k.ours(stat) && stat.Czxid == q.Czxid {
			return guard, nil
		}
	}
	return "", nil
}

// unlessUnseen gives the error of a read; nil where the node does not exist, or may not be read.
func unlessUnseen(err error) error {
	if errors.Is(err, zkconn.ErrNoNode) || errors.Is(err, zkconn.ErrNoAuth) {
		return nil
	}
	return err
}
