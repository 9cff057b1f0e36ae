package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/messages"
)

// Room (back-pressure). A session bounds the nodes that it has at the servers. A create is made, or
// refused:
//
//   - When a session ends, the servers delete all of its ephemeral nodes in one transaction, which
//     names each by its path. A transaction that is larger than their jute.maxbuffer can neither be
//     sent among them nor be read again from their logs, and destroys the ensemble (ZOOKEEPER-4306).
//     So each node is weighed as that transaction writes it (class CloseSessionTxn: a vector of
//     strings). All may weigh Bounds.Weight, half of what a server reads.
//   - Of one queue at most Bounds.Waiting requests wait with a node, or are about to. Longer queues
//     make listings that Java's clients refuse.
//
// A request is admitted with its create, and counts until its node is known to be gone. One that has
// lost its node while it waited, or its session, stays admitted: whoever comes meanwhile does not take
// its room.
//
// Strays are not weighed (look.go): they come seldom, and go at once. No bound stops a downgrade.

// weightShares bounds a requester of a gateway to 1/weightShares of its session's weight.
const weightShares = 4

// fullFor gives the bound that keeps a request from making a node; ReasonNone where it may.
func (c *Coordinator) fullFor(r *request) (why messages.Reason, detail string) {
	l := &c.epoch.load
	ofRequester, share := l.shares[r.spec.Requester]+r.weight, c.bounds.Weight/weightShares
	switch {
	case r.admitted:
		return messages.ReasonNone, ""
	case r.spec.One == "" && r.queue.waiting >= c.bounds.Waiting:
		return messages.ReasonQueueFull, fmt.Sprintf("%d requests of the session wait in it, and %d may", r.queue.waiting, c.bounds.Waiting)
	case r.spec.Requester != "" && ofRequester > share:
		return messages.ReasonSessionFull, fmt.Sprintf("the nodes of a requester would weigh %d bytes, and may weigh %d", ofRequester, share)
	case !c.Room(r.weight):
		return messages.ReasonSessionFull, fmt.Sprintf(
			"the nodes of the session weigh %d bytes in the transaction that ends it, and may weigh %d", l.nodes+l.others, c.bounds.Weight)
	}
	return messages.ReasonNone, ""
}

// Room reports whether there is room for nodes of this weight.
func (c *Coordinator) Room(weight int) bool {
	l := &c.epoch.load
	return l.nodes+l.others+weight <= c.bounds.Weight
}

// counts gives what a request is to add to the bounds.
func (c *Coordinator) counts(r *request) (n counted) {
	if r.held {
		n.holds = 1
	}
	if r.admitted {
		n.weight = r.weight
		if r.life == active && !r.held && r.spec.One == "" && r.spec.Want.Beside == "" {
			n.waits = 1
		}
	}
	return n
}

// recount counts a request as it stands now. It follows each change of its life, and of whether it is admitted or holds.
func (c *Coordinator) recount(r *request) {
	was, l := r.counted, &c.epoch.load
	r.counted = c.counts(r)
	weight := r.counted.weight - was.weight
	l.nodes += weight
	if of := r.spec.Requester; of != "" {
		if l.shares[of] += weight; l.shares[of] == 0 {
			delete(l.shares, of)
		}
	}
	r.queue.waiting += r.counted.waits - was.waits
	c.epoch.held += r.counted.holds - was.holds
}
