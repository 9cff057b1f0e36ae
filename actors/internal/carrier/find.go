package carrier

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// find looks for the node of a request and confirms the result by a committed transaction. A node that is known needs
// nothing but the proof. Otherwise the list is read after a sync, because a follower that lags would not show it (the
// library's own search makes a second node), and a node with the GUID is the request's only when its session owns it
// (CURATOR-604). Of several, the first in the queue is kept and the others are deleted.
func (k Carrier) find(q *coordinator.Find) *coordinator.Found {
	a := &coordinator.Found{Name: q.Known}
	if q.Spec.One != "" {
		return k.findContest(q)
	}
	if q.Known == "" {
		if err := k.search(q, a); err != nil || a.Name == "" {
			a.Failure = failureOf(err)
			return a
		}
	}
	path := q.Spec.At(a.Name)
	switch err := k.Conn.Heartbeat(path); {
	case errors.Is(err, zkconn.ErrNoNode):
		return &coordinator.Found{Removed: a.Removed}
	case err != nil && !zkconn.CommittedRefusal(err):
		return &coordinator.Found{Removed: a.Removed, Failure: failureOf(fmt.Errorf("verifying %s: %w", path, err))}
	}
	return a
}

// search looks for nodes of the request. Their absence is believed only after a committed
// transaction: a leader answers its own clients' sync at once, also before it has applied a change
// that it told others of (see [zkconn.Conn.CatchUp]).
func (k Carrier) search(q *coordinator.Find, a *coordinator.Found) error {
	if err := k.Conn.Sync(q.Spec.Path); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
		return err
	}
	if err := k.searchOnce(q, a); err != nil || a.Name != "" {
		return err
	}
	if err := k.Conn.CatchUp(q.Spec.Path); err != nil {
		return err
	}
	return k.searchOnce(q, a)
}

// searchOnce searches the children that our server shows now.
func (k Carrier) searchOnce(q *coordinator.Find, a *coordinator.Found) error {
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
		case errors.Is(err, errRemoved):
			a.Removed = append(a.Removed, child)
		case err != nil:
			return err
		case !exists || stat.EphemeralOwner != k.Conn.SessionID():
		case a.Name == "" && !slices.Contains(q.Not, child):
			a.Name, a.Czxid = child, stat.Czxid
		default:
			a.Removed = append(a.Removed, child)
			if err := k.Conn.Delete(q.Spec.At(child)); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
				return err
			}
		}
	}
	return nil
}

// findOrphans looks for nodes that creates have made whose replies were lost. A node with such a GUID that the session
// may not look at is taken for its own, because nobody else has made up the GUID.
func (k Carrier) findOrphans(q *coordinator.FindOrphans) *coordinator.OrphansFound {
	a := &coordinator.OrphansFound{}
	if err := k.Conn.CatchUp(q.Spec.Path); err != nil {
		a.Failure = failureOf(err)
		return a
	}
	if q.Spec.One != "" {
		one, err := k.readContest(q.Spec)
		if err == nil && one != nil && one.Ours && (one.GUID == "" || slices.Contains(q.GUIDs, one.GUID)) {
			a.Nodes = append(a.Nodes, coordinator.FoundOrphan{Name: q.Spec.One, GUID: cmp.Or(one.GUID, q.GUIDs[0]),
				Guard: one.Guard, Czxid: one.Czxid})
		}
		a.Failure = failureOf(err)
		return a
	}
	children, err := k.Conn.Children(q.Spec.Path)
	if errors.Is(err, zkconn.ErrNoNode) {
		return a
	}
	for _, child := range children {
		guid := guidOf(child, q.GUIDs)
		if guid == "" {
			continue
		}
		stat, exists, lookErr := k.Conn.Exists(q.Spec.At(child))
		switch {
		case errors.Is(lookErr, zkconn.ErrNoAuth) || lookErr == nil && exists && k.ours(stat):
			a.Nodes = append(a.Nodes, coordinator.FoundOrphan{Name: child, GUID: guid, Czxid: stat.Czxid})
		case lookErr != nil:
			err = lookErr
		}
	}
	a.Failure = failureOf(err)
	return a
}

// guidOf gives the one of some GUIDs, sorted, that the name of a contender begins with; "" for none. A cut may have lost
// thousands of creates in a queue of thousands, so it does not go through all of them for each node.
func guidOf(child string, guids []string) string {
	child = strings.TrimPrefix(child, "_c_")
	at, _ := slices.BinarySearchFunc(guids, child, func(guid, child string) int {
		return strings.Compare(guid, child[:min(len(guid), len(child))])
	})
	if at < len(guids) && strings.HasPrefix(child, guids[at]) {
		return guids[at]
	}
	return ""
}

// errRemoved: the node has been deleted.
var errRemoved = errors.New("removed")

// ownStat gives the Stat of a node with the request's GUID, which tells its owner. Servers since
// 3.8.4 and 3.9.2 refuse it to a session that may not read the node (ZOOKEEPER-2590), but send it
// in the reply to a write: so the data that the node was made with are written again. A node that
// may not be written either is deleted, because only its name tells that it is ours. The request
// has no node then, and the error is errRemoved.
func (k Carrier) ownStat(q *coordinator.Find, child string) (stat zkconn.Stat, exists bool, err error) {
	path := q.Spec.At(child)
	stat, exists, err = k.Conn.Exists(path)
	if !errors.Is(err, zkconn.ErrNoAuth) {
		return stat, exists, err
	}
	stat, err = k.Conn.Write(path, ownerData(q.Spec, q.Place))
	if errors.Is(err, zkconn.ErrNoAuth) {
		if err = k.Conn.Delete(path); err == nil {
			err = errRemoved
		}
	}
	if errors.Is(err, zkconn.ErrNoNode) {
		return zkconn.Stat{}, false, nil
	}
	return stat, err == nil, err
}

// seekReclaimable looks for the node that an earlier process held with under the reclaim key of a request: the first
// of the queue, of a session that the session file names, and that its servers knew when we took it over. Where
// anything is not as it must be there is nothing to take back, and the request queues as any other does.
//
// The token must be greater than every token that earlier processes have held with, and less than
// the token of any later holder. A node with a reclaim key is deleted before anybody else holds, and is
// never reused. So while it exists, its maker was the last to hold, and the place after its own is
// free. Contenders of the same transaction are of the same session, behind it, and dead; all others
// behind it were made by later transactions.
func (k Carrier) seekReclaimable(sp *coordinator.Spec) *coordinator.Reclaimable {
	none := &coordinator.Reclaimable{}
	left := k.File.Reclaimable()
	if len(left) == 0 {
		return none
	}
	// A server that lags might show the queue as it was before they held.
	if err := k.Conn.CatchUp(sp.Path); err != nil {
		return &coordinator.Reclaimable{Failure: failureOf(err)}
	}
	children, err := k.Conn.Children(sp.Path)
	if err != nil {
		return &coordinator.Reclaimable{Failure: failureOf(err)}
	}
	all := queue.NewListing(children, 0).Queue(sp.Style.Name)
	if len(all) == 0 {
		return none
	}
	data, stat, err := k.Conn.Get(sp.At(all[0]))
	if err != nil {
		return &coordinator.Reclaimable{Failure: failureOf(err)}
	}
	owner, ours := queue.ParseOwner(data)
	number, numbered := queue.Sequence(all[0])
	if !ours || !numbered || !slices.Contains(left, stat.EphemeralOwner) ||
		owner.Reclaim != sp.Want.Reclaim || owner.Mode != sp.Want.Mode.String() ||
		queue.IsRevokeRequest(data) { // a holder that was asked to give it back does not take it back
		return none
	}
	token, err := tokenAfter(owner, stat.Czxid)
	if err != nil { // a thousand restarts in one hold
		return none
	}
	return &coordinator.Reclaimable{Name: all[0], Version: stat.Version, Number: number, Token: token}
}

// tokenAfter gives the token that follows the one of a node's holder.
func tokenAfter(owner queue.Owner, czxid int64) (messages.Token, error) {
	held, err := messages.Token(owner.Token), error(nil)
	if held == 0 {
		held, err = messages.NewToken(czxid, owner.Place)
	}
	if err != nil {
		return 0, err
	}
	return messages.NewToken(held.Zxid(), held.Place()+1)
}

// takeOver makes a node in place of one that was left.
func (k Carrier) takeOver(q *coordinator.TakeOver) *coordinator.Created {
	owner := OwnerOf(q.Spec)
	owner.Token = int64(q.From.Token)
	made, err := k.Conn.ReplaceNamed(q.Spec.Path, q.From.Name, q.From.Version, q.Name, owner.Encode())
	return &coordinator.Created{Node: madeFirst(made), Failure: failureOf(err)}
}
