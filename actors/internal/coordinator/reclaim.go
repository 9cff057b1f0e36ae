package coordinator

// Reclaiming: a request with a label takes over the node that an earlier process held with under the same label, whose
// session the shell knows to be nobody's any more. See messages.Acquire.Reclaim, and package carrier for what it
// looks for.
//
// Nobody else can hold in between: the old node, the first of the queue, is deleted and the new one made at its number
// in one transaction, which is refused when the old one is gone or was written to. Whoever waits for the old node
// knows by its name that its end says nothing (queue.Reclaimable), lists the queue, and finds the new one in its
// place.
//
// The token is not that of the new node's czxid, which is greater than those of the contenders that wait behind it. It
// is the place after the newest that the earlier process may have held with. It is chosen before the node is made, so
// that a node whose reply was lost is found with the same token.

// reclaim has the servers asked what there is to take over, before the node of a request is made; false where the
// request does not want that.
func (c *Coordinator) reclaim(r *request, op uint64) bool {
	if r.spec.Want.Reclaim == "" {
		return false
	}
	r.inherited = 0 // of an attempt before, which has come to nothing
	c.ask(&SeekLeft{Spec: r.spec}, seekingLeft{operation{r.id, op}})
	return true
}

// seekingLeft is what a SeekLeft is for, takingOver what a TakeOver is for. The request is creating meanwhile.
type (
	seekingLeft struct{ operation }
	takingOver  struct{ operation }
)
