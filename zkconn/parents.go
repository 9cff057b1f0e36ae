package zkconn

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
)

// parentAttempts bounds how often EnsureParents begins again when an ancestor vanishes under it; a container is
// reaped within a server's check interval, a minute by default.
const parentAttempts = 10

// EnsureParents makes the node at path and those above it, the chroot included, as far as they do
// not exist. It makes container nodes, which the server deletes when their last child is gone, or
// persistent nodes where the server does not know containers. They have no data, and the ACL
// configured for parents.
//
// Nodes that exist are no error, even where we may not make them. An ancestor that is reaped
// meanwhile is made again, a bounded number of times (then ErrNoNode). Where it is refused, it
// deletes what it has made by then. The error wraps ErrNoChildrenForEphemerals when an ancestor is
// ephemeral, and ErrNoAuth, which names the node that lacks CREATE.
func (c *Conn) EnsureParents(path string) error {
	_, err := c.MakeParents(path)
	return err
}

// MakeParents is EnsureParents for a node that may be refused below them. It gives what it has made.
func (c *Conn) MakeParents(path string) (made Parents, err error) {
	const op = "make parents"
	made.conn = c
	err = c.operate(op, path, func(absolute string) error {
		if err := checkSize(op, absolute, nil); err != nil {
			return err
		}
		wait := backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(2*time.Millisecond), backoff.WithMaxInterval(200*time.Millisecond),
		)
		for attempt := 1; ; attempt++ {
			err := c.makeLineage(absolute, &made)
			if !errors.Is(err, zk.ErrNoNode) || attempt == parentAttempts {
				return err
			}
			if !c.pause(wait.NextBackOff()) {
				return err
			}
		}
	})
	if err != nil && OutcomeOf(err) == Refused {
		made.Remove(nil)
		return Parents{}, err
	}
	return made, err
}

// makeLineage goes up from the node to the first ancestor that it can make or that exists, and down again. zk.ErrNoNode
// means that one of them vanished on the way down.
func (c *Conn) makeLineage(absolute string, made *Parents) error {
	missing := []string{}
	for at := absolute; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		err := c.makeParent(at, made)
		if err == nil {
			break
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		missing = append(missing, at)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := c.makeParent(missing[i], made); err != nil {
			return err
		}
	}
	return nil
}

// makeParent makes one node. It gives errors of the library.
func (c *Conn) makeParent(absolute string, made *Parents) error {
	err := c.makeContainer(absolute)
	switch {
	case err == nil:
		made.all = append(made.all, absolute)
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case errors.Is(err, zk.ErrNoAuth):
		// The server looks at the parent's ACL before it looks whether the node is there.
		if _, exists, lookErr := c.lookUp(absolute); lookErr == nil && exists {
			return nil
		}
		return fmt.Errorf("no CREATE at %s: %w", c.describeParent(absolute), err)
	}
	return err
}

// describeParent names the parent of a node, as the user knows it where it is not the chroot or above it.
func (c *Conn) describeParent(absolute string) string {
	parent := absolute[:strings.LastIndexByte(absolute, '/')]
	relative, inside := strings.CutPrefix(parent, c.cfg.chroot)
	switch {
	case parent == "":
		return "the root"
	case !inside:
		return parent + ", which is above the chroot"
	case relative == "":
		return "the chroot, " + parent
	}
	return relative
}

// relative gives a path as the user knows it. What is above the chroot has no such name.
func (c *Conn) relative(absolute string) string {
	if relative, inside := strings.CutPrefix(absolute, c.cfg.chroot); inside && relative != "" {
		return relative
	}
	return absolute
}

// pause waits; it says whether the Conn is still open.
func (c *Conn) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.gate.shut:
		return false
	}
}
