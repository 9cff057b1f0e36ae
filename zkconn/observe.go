package zkconn

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

func (c *Conn) observe(event zk.Event) {
	switch event.Type {
	case zk.EventSession:
		// The library's own states carry the server; some servers send states as watch events.
		if event.Server != "" {
			c.observeState(event.State)
		}
	case zk.EventNodeCreated, zk.EventNodeDeleted, zk.EventNodeDataChanged, zk.EventNodeChildrenChanged:
		path, inside := strings.CutPrefix(event.Path, c.cfg.chroot)
		if !inside {
			c.log.Warn("zookeeper event outside of the chroot", logkeys.Path, event.Path)
			return
		}
		c.session.watched(NodeCreated+EventKind(event.Type-zk.EventNodeCreated), path)
	}
}

func (c *Conn) observeState(state zk.State) {
	switch state {
	case zk.StateHasSession:
		c.doubted.Store(false)
		c.session.gained()
	case zk.StateDisconnected:
		c.lease.Lost()
		c.session.lost()
	case zk.StateExpired:
		c.sessionEnded(nil) // the library leaves the connection open
	}
}

func (c *Conn) sessionEnded(cause error) {
	c.guard.over.Store(true)
	if cause == nil {
		c.guard.ended.Store(true)
	}
	c.gate.close(fmt.Errorf("%w: %w", ErrClosed, zk.ErrSessionExpired))
	c.lease.Close()
	c.lease.Clock.Expire()
	c.session.over(cause)
	c.link.cut()
}

// replied, sessionEnded and failed make Conn the transport's observer.

func (c *Conn) replied(t *transport, code int32) {
	switch code {
	case codeAuthFailed:
		c.hosts.refused.Store(true)
		c.session.credentialRefused(fmt.Errorf("connection to %s: %w: %w", t.server, ErrAuthFailed, zk.ErrAuthFailed))
	case codeSASLRequired:
		c.hosts.refused.Store(true)
		c.session.refused(fmt.Errorf("connection to %s: %w: %w", t.server, ErrAuthFailed, c.missing()))
	default:
		c.hosts.answered.Store(true)
	}
}

// missing says why a server closes connections with error -124 (AuthenticationHelper.enforceAuthentication).
func (c *Conn) missing() error {
	if c.cfg.sasl == nil {
		return errors.New("the server requires SASL authentication, or another that it enforces, " +
			"and none is configured (error -124, SessionClosedRequireSaslAuth)")
	}
	return errors.New("the server enforces another scheme of authentication than SASL " +
		"(error -124, SessionClosedRequireSaslAuth)")
}

// refused: a SASL exchange failed for good. It is called on the goroutine that connects, and ends
// the urgency.
func (c *Conn) refused(cause error) {
	c.hosts.urgency.refused = true
	c.session.refused(cause)
}

func (c *Conn) failed(t *transport, cause error) {
	if t.established.Load() {
		c.lost.note(cause)
	}
	// A refused credential says more than the end of the connection that follows it.
	if c.gate.isShut() || c.hosts.refused.Load() {
		return
	}
	first := doubtful(cause) && !c.doubted.Swap(true)
	if errors.Is(cause, ErrAuthFailed) && !first {
		c.refused(cause)
		return
	}
	c.session.note(cause)
}
