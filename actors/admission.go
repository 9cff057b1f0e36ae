package actors

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrSessionFull: the ephemeral nodes of the session weigh as much as they may. Nothing was sent. It may pass: see
// WithMaxNodeBytes.
var ErrSessionFull = errors.New("turnstile: the session has as many nodes as it may have")

// WithMaxWaiting bounds the nodes of one queue with which this session waits; without it they are
// 256. Those that are held with do not count. Requests beyond it wait inside the session, in the
// order in which they came, and get nodes as those before them leave. Nodes that they do not have
// cost the servers nothing.
//
// For exclusive locks that changes no order within the session. Readers, and holders of permits,
// beyond it come behind the requests of other sessions that queue meanwhile. Other sessions see the
// nodes, and not who waits inside. n must be above zero.
func WithMaxWaiting(n int) SessionOption {
	return func(o *sessionOptions) error {
		if n < 1 {
			return fmt.Errorf("turnstile: WithMaxWaiting: %w: %d nodes", zkconn.ErrBadConfig, n)
		}
		o.bounds.Waiting = n
		return nil
	}
}

// WithMaxNodeBytes bounds what all ephemeral nodes of this session weigh together; without it that
// is 512 KiB. A node weighs the length of its path at the servers, with the chroot, and four bytes.
// That is what it takes in the transaction that ends the session. A server whose jute.maxbuffer is
// smaller than that transaction cannot read it, and an ensemble of such servers does not start
// again (ZOOKEEPER-4306). The usual jute.maxbuffer is 1 MiB. Raise both together, and keep the
// bound at half of jute.maxbuffer.
//
// Where there is no room, retained nodes that nobody uses are given up, the oldest first. Then a
// request waits inside the session where its queue has a node of this session, and otherwise ends
// with messages.ReasonSessionFull. n must be above zero.
func WithMaxNodeBytes(n int) SessionOption {
	return func(o *sessionOptions) error {
		if n < 1 {
			return fmt.Errorf("turnstile: WithMaxNodeBytes: %w: %d bytes", zkconn.ErrBadConfig, n)
		}
		o.bounds.Weight = n
		return nil
	}
}

// loaded notes what the session has at the servers.
func (s *session) loaded(now coordinator.Load) {
	s.weight.Store(int64(now.Weight))
	s.inside.Store(int64(now.Inside))
	s.figures.Loaded(now.Weight, now.Inside)
}

// bounds gives those of the session's nodes.
func (s *Session) bounds() coordinator.Bounds {
	usual := coordinator.DefaultBounds()
	return coordinator.Bounds{Waiting: cmp.Or(s.opts.bounds.Waiting, usual.Waiting),
		Weight: cmp.Or(s.opts.bounds.Weight, usual.Weight), Root: len(s.cfg.Chroot())}
}
