package carrier

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// seekLeft looks for the node that an earlier process held with under the label of a request: the first of the queue,
// of a session that the session file names, and that its servers knew when we took it over. Where anything is not as
// it must be there is nothing to take back, and the request queues as any other does.
//
// The token must be greater than all that earlier processes have held with, and less than that of anybody who holds
// later. A node with a label is deleted before anybody else holds, and is never reused: so while it is there the one
// who made it was the last to hold, and the place after its own is free. Contenders of the same transaction are of the
// same session, behind it, and dead; all others behind it were made by later transactions.
func (k Carrier) seekLeft(sp *coordinator.Spec) *coordinator.Left {
	none := &coordinator.Left{}
	left := k.File.Reclaimable()
	if len(left) == 0 {
		return none
	}
	// A server that lags might show the queue as it was before they held.
	if err := k.Conn.CatchUp(sp.Path); err != nil {
		return &coordinator.Left{Failure: failureOf(err)}
	}
	children, err := k.Conn.Children(sp.Path)
	if err != nil {
		return &coordinator.Left{Failure: failureOf(err)}
	}
	all := queue.NewListing(children, 0).Queue(sp.Style.Name)
	if len(all) == 0 {
		return none
	}
	data, stat, err := k.Conn.Get(sp.At(all[0]))
	if err != nil {
		return &coordinator.Left{Failure: failureOf(err)}
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
	return &coordinator.Left{Name: all[0], Version: stat.Version, Number: number, Token: token}
}

// tokenAfter gives the token after that of a node's holder.
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
	owner.Token = int64(q.Left.Token)
	made, err := k.Conn.ReplaceNamed(q.Spec.Path, q.Left.Name, q.Left.Version, q.Name, owner.Encode())
	return &coordinator.Created{Node: madeFirst(made), Failure: failureOf(err)}
}
