package zkconn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// EnsureParents makes the node at path and those above it, the chroot included, unless they exist:
// container nodes, which the server deletes after their last child, or persistent ones where it
// does not know containers. They have no data, and the ACL for parents.
//
// An ancestor that is reaped meanwhile is made again, a bounded number of times (then ErrNoNode).
// Where it is refused, it deletes the parents that it has made. The error wraps
// ErrNoChildrenForEphemerals when an ancestor is ephemeral, and ErrNoAuth, which names the node
// that lacks CREATE.
func (c *Conn) EnsureParents(path string) error {
	_, err := c.MakeParents(path, nil)
	return err
}

var errNotWanted = errors.New("given up meanwhile")

// MakeParents is EnsureParents for a node that may be refused. It gives the parents that it has
// made. It asks wanted, which may be nil, before each, and stops at a no.
func (c *Conn) MakeParents(path string, wanted func() bool) (made Parents, err error) {
	const op = "make parents"
	made.conn = c
	err = c.operate(op, path, cmp.Or(CheckPath(path), CheckPath(c.cfg.chroot+path)), func(absolute string) error {
		for attempt := 1; ; attempt++ {
			err := c.makeLineage(absolute, &made, wanted)
			if !errors.Is(err, zk.ErrNoNode) || attempt == retry.VanishedTries {
				return err
			}
			if !c.pause(retry.Vanished.Pause(attempt)) {
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

// makeLineage goes up to the first ancestor that it can make or that exists, and down again.
// zk.ErrNoNode means that one vanished on the way down.
func (c *Conn) makeLineage(absolute string, made *Parents, wanted func() bool) error {
	make := func(at string) error {
		if wanted != nil && !wanted() {
			return &Error{"make parents", c.relative(at), errNotWanted}
		}
		return c.makeParent(at, made)
	}
	missing := []string{}
	for at := absolute; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		err := make(at)
		if err == nil {
			break
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		missing = append(missing, at)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := make(missing[i]); err != nil {
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
		if _, exists, lookErr := c.lookUp(absolute); lookErr == nil && exists {
			return nil
		}
		return fmt.Errorf("no CREATE at %s: %w", c.describeParent(absolute), err)
	}
	return err
}

// describeParent names the parent of a node, as the user knows it unless it is the chroot or above.
func (c *Conn) describeParent(absolute string) string {
	parent := absolute[:strings.LastIndexByte(absolute, '/')]
	relative, inside := strings.CutPrefix(parent, c.cfg.chroot)
	switch {
	case parent == "":
		return "the root"
	case !inside:
		return Shown(parent) + ", which is above the chroot"
	case relative == "":
		return "the chroot, " + Shown(parent)
	}
	return Shown(relative)
}

// After manyHangUps creates of containers in a row that lost the connection, persistent nodes are
// made instead: servers and proxies that do not know the operation may hang up (ClickHouse Keeper
// did until 2026).
const manyHangUps = 2

// makeContainer makes a container node, or a persistent one where the servers do not make those. A
// server may also hang up after its refusal: then the second request is an unknown outcome, and the
// caller's next attempt makes persistent nodes.
func (c *Conn) makeContainer(absolute string) error {
	acl, err := c.cfg.aclOfParent(absolute)
	if err != nil {
		return err
	}
	if !c.noContainers.Load() {
		err := c.patiently(func() error {
			_, err := c.zk.Create(absolute, []byte{}, zk.FlagContainer, acl)
			return err
		})
		if !c.refusesContainers(err) {
			return c.namedLoss("create container", absolute, err)
		}
	}
	return c.namedLoss("create", absolute, c.patiently(func() error {
		_, err := c.zk.Create(absolute, []byte{}, zk.FlagPersistent, acl)
		return err
	}))
}

// refusesContainers reports whether the error of a container's create means that the servers refuse
// them. A server that hung up may have made it: the caller tries again, and finds out.
func (c *Conn) refusesContainers(err error) bool {
	answered := errors.Is(err, zk.ErrBadArguments) || hasUnnamedCode(err, codeUnimplemented)
	switch {
	case answered:
	case c.lost.of(err) == ErrHungUp:
		if c.containerHangUps.Add(1) < manyHangUps {
			return false
		}
	default:
		if err == nil || OutcomeOf(err) == Refused {
			c.containerHangUps.Store(0)
		}
		return false
	}
	if !c.noContainers.Swap(true) {
		c.log.Warn("zookeeper server knows no container nodes; making persistent ones", logkeys.Error, err)
	}
	return answered
}

// namedLoss adds the name of the node that was to be made to a loss of the connection; other errors
// stay.
func (c *Conn) namedLoss(op, absolute string, err error) error {
	if c.lost.of(err) == nil {
		return err
	}
	return c.failure(op, c.relative(absolute), err)
}

// Parents are the nodes that calls of MakeParents have made. The zero value has none.
type Parents struct {
	conn *Conn
	all  []string // at the server, each before those below it
}

// And adds parents that were made later, as when some were reaped meanwhile.
func (p Parents) And(later Parents) Parents {
	return Parents{conn: later.conn, all: append(p.all, later.all...)}
}

// Remove deletes them again, the lowest first, for a caller whose node was refused: no server reaps
// a container that never had a child. A node with children, or with data of somebody else's, stays,
// and so do those above it. Errors are dropped: a parent too many harms nobody.
func (p Parents) Remove(data []byte) {
	if len(p.all) == 0 || p.conn.gate.enter() != nil {
		return
	}
	defer p.conn.gate.leave()
	for i := len(p.all) - 1; i >= 0; i-- {
		if err := p.conn.removeParent(p.all[i], data); err != nil && err != zk.ErrNoNode {
			return
		}
	}
}

// removeParent deletes a node that has this data, or none, and has not been written to since it was
// read.
func (c *Conn) removeParent(absolute string, data []byte) error {
	return c.patiently(func() error {
		found, stat, err := c.zk.Get(absolute)
		if err != nil {
			return err
		}
		if len(found) > 0 && !bytes.Equal(found, data) {
			return zk.ErrBadVersion
		}
		return c.zk.Delete(absolute, stat.Version)
	})
}

// MissingParents gives the creates of the missing nodes above path, from the top, with the ACL of
// WithParentACL and without data, for a transaction that creates path. A node that may not be read
// is taken to exist.
func (c *Conn) MissingParents(path string) ([]Op, error) {
	var missing []Op
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path, '/') {
		path = path[:at]
		_, exists, err := c.Exists(path)
		switch {
		case exists, errors.Is(err, ErrNoAuth):
			slices.Reverse(missing)
			return missing, nil
		case err != nil:
			return nil, err
		}
		acl, err := c.cfg.aclOfParent(c.cfg.chroot + path)
		if err != nil {
			return nil, err
		}
		missing = append(missing, Op{Kind: OpCreate, Path: path, acl: acl})
	}
	slices.Reverse(missing)
	return missing, nil
}
