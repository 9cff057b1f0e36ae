package zkconn

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// observe is the library's event callback.
func (c *Conn) observe(event zk.Event) {
	switch event.Type {
	case zk.EventSession:
		// States of the library's own carry the server; there are servers that send states as watch events.
		if event.Server != "" {
			c.observeState(event.State)
		}
	case zk.EventNodeCreated:
		c.observeNode(NodeCreated, event.Path)
	case zk.EventNodeDeleted:
		c.observeNode(NodeDeleted, event.Path)
	case zk.EventNodeDataChanged:
		c.observeNode(NodeDataChanged, event.Path)
	case zk.EventNodeChildrenChanged:
		c.observeNode(NodeChildrenChanged, event.Path)
	}
}

func (c *Conn) observeState(state zk.State) {
	switch state {
	case zk.StateHasSession:
		c.session.gained()
	case zk.StateDisconnected:
		c.session.lost()
	case zk.StateExpired:
		c.gate.close(fmt.Errorf("%w: %w", ErrClosed, zk.ErrSessionExpired))
		c.session.over()
		c.link.cut() // the library leaves it open
	}
}

func (c *Conn) observeNode(kind EventKind, path string) {
	relative, inside := strings.CutPrefix(path, c.cfg.chroot)
	if !inside {
		c.log.Warn("zookeeper event outside of the chroot", logkeys.Path, path)
		return
	}
	c.session.watched(kind, relative)
}

// passes, replied and failed make Conn the transport's observer.

func (c *Conn) passes(frame []byte) { c.awaited.passes(frame) }

func (c *Conn) replied(t *transport, code int32) {
	if code == codeAuthFailed {
		c.hosts.sawRefusal()
		c.session.refused(fmt.Errorf("connection to %s: %w: %w", t.server, ErrAuthFailed, zk.ErrAuthFailed))
		return
	}
	c.hosts.sawReply()
}

func (c *Conn) failed(_ *transport, cause error) {
	// A refused credential says more than the end of the connection that follows it.
	if c.gate.isShut() || c.hosts.refused.Load() {
		return
	}
	c.session.note(cause)
}
