package actors

import (
	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// WaitListener is a Listener that is also told behind whom the request waits, when it begins to.
type WaitListener interface {
	Listener
	// Waits gives what is known of the predecessor without a further query: its node, and again when
	// that has been read. A request that begins to wait inside its session before the first node of
	// the session in the queue is known is told of nobody, also later: a hundred thousand messages
	// would go before the first hand-over.
	Waits(behind *Predecessor)
}

// Predecessor is what is known of the contender that a request waits for. It is immutable.
type Predecessor coordinator.Behind

// hearBehind passes on behind whom the request waits.
func (l *lock) hearBehind(n *news) {
	if n.Behind == nil && n.Event.Predecessor == "" {
		return
	}
	listener, ok := l.listener.(WaitListener)
	switch {
	case !ok:
	case n.Behind == nil: // its node is about to be read
		listener.Waits(&Predecessor{Node: n.Event.Predecessor})
	default:
		listener.Waits((*Predecessor)(n.Behind))
	}
}

// Contender gives the predecessor's node and, where the node says so, its owner and since when.
// path is that of the lock.
func (behind *Predecessor) Contender(path string) messages.Contender {
	c := messages.Contender{Path: path, Node: behind.Node, Asked: queue.IsRevokeRequest(behind.Data)}
	o, known := queue.ParseOwner(behind.Data)
	if !known && behind.Spec != nil {
		o, known = carrier.OwnerOf(behind.Spec), true
	}
	if known {
		c.Library = messages.LibraryTurnstile
		o.Describe(&c)
	}
	return c
}
