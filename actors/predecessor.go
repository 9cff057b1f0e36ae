package actors

import (
	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// WaitListener is a Listener that is also told whom the request waits for, when it begins to.
type WaitListener interface {
	Listener
	// Waits gives what is known of the predecessor without a further query: its node, and again when
	// that has been read. A request that begins to wait inside its session before the first node of
	// the session in the queue is known is told of nobody, also later: a hundred thousand messages
	// would go before the first hand-over.
	Waits(predecessor *Predecessor)
}

// Predecessor is what is known of the contender that a request waits for. It is immutable.
type Predecessor coordinator.Predecessor

// hearPredecessor passes on whom the request waits for.
func (l *lock) hearPredecessor(n *lockEvent) {
	if n.Predecessor == nil && n.Event.Predecessor == "" {
		return
	}
	listener, ok := l.listener.(WaitListener)
	switch {
	case !ok:
	case n.Predecessor == nil: // its node is about to be read
		listener.Waits(&Predecessor{Node: n.Event.Predecessor})
	default:
		listener.Waits((*Predecessor)(n.Predecessor))
	}
}

// Contender gives the predecessor's node and, where the node says so, its owner and since when.
// path is that of the lock.
func (p *Predecessor) Contender(path string) messages.Contender {
	c := messages.Contender{Path: path, Node: p.Node, Asked: queue.IsRevokeRequest(p.Data)}
	o, known := queue.ParseOwner(p.Data)
	if !known && p.Spec != nil {
		o, known = carrier.OwnerOf(p.Spec), true
	}
	if known {
		c.Library = messages.LibraryTurnstile
		o.Describe(&c)
	}
	return c
}
