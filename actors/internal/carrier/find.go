package carrier

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// look lists the nodes of an epoch, after a committed transaction, and reads those that are sought. A follower that lags
// would not show them, and a leader answers its own clients' sync at once, also before it has applied a change that it told
// others of (see [zkconn.Conn.CatchUp]).
func (k Carrier) look(q *coordinator.Look) (seen []coordinator.Seen, err error) {
	if err = k.Conn.CatchUp(cmp.Or(q.Path, "/look")); err != nil { // it need not exist, and the root is no path
		return nil, err
	}
	children, err := k.children(q.Path)
	switch {
	case errors.Is(err, zkconn.ErrNoNode):
		return nil, nil
	case err != nil && !errors.Is(err, zkconn.ErrNoAuth):
		return nil, err
	}
	for _, child := range children {
		if ours, _ := q.Finds(child); ours {
			seen = append(seen, coordinator.Seen{Name: child})
		}
	}
	shown := len(seen)
	for _, guard := range q.Guards {
		if !slices.Contains(children, guard) {
			seen = append(seen, coordinator.Seen{Name: guard})
		}
	}
	failures := make([]error, len(seen))
	var reads sync.WaitGroup // at the same time: there may be hundreds
	for i, n := range seen {
		if _, sought := q.Finds(n.Name); sought {
			reads.Go(func() { seen[i].Czxid, failures[i] = k.birth(q.Path, n.Name) })
		}
	}
	reads.Wait()
	if failed := cmp.Or(failures...); failed != nil {
		return nil, failed
	}
	if err == nil { // else nobody knows which are there
		seen = append(seen[:shown], slices.DeleteFunc(seen[shown:], func(n coordinator.Seen) bool { return n.Czxid == 0 })...)
	}
	return seen, err
}

// birth gives the czxid of a node, or of a guard with its node; zero where there is none, or a guard without its node. Where
// somebody has deleted the guard by itself, the data of the node name it.
func (k Carrier) birth(parent, child string) (int64, error) {
	stat, exists, err := k.Conn.Exists(parent + "/" + child)
	one, guards := queue.GuardedBy(child)
	if err != nil || !guards {
		return stat.Czxid, err
	}
	if exists {
		if node, _, err := k.Conn.Exists(parent + "/" + one); node.Czxid != stat.Czxid {
			return 0, err
		}
		return stat.Czxid, nil
	}
	data, node, err := k.Conn.Get(parent + "/" + one)
	if errors.Is(err, zkconn.ErrNoNode) || errors.Is(err, zkconn.ErrNoAuth) { // it is another's
		return 0, nil
	}
	if owner, _ := queue.ParseOwner(data); owner.Guard != child {
		return 0, err
	}
	return node.Czxid, nil
}

func (k Carrier) children(path string) ([]string, error) {
	if path == "" {
		return k.Conn.RootChildren()
	}
	return k.Conn.Children(path)
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

func (k Carrier) takeOver(q *coordinator.TakeOver) *coordinator.Created {
	owner := OwnerOf(q.Spec)
	owner.Token = int64(q.From.Token)
	made, err := k.Conn.ReplaceNamed(q.Spec.Path, q.From.Name, q.From.Version, q.Name, owner.Encode())
	return &coordinator.Created{Node: madeFirst(made), Failure: failureOf(err)}
}
