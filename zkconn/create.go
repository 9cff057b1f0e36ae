package zkconn

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"
)

// Created is a contender node that was made.
type Created struct {
	// Name is the last element of its path: the prefix and ten digits.
	Name string
	// Czxid is the transaction that made it; 0 when that is not known.
	Czxid int64
	// Place is its place, from 0, among the creates of its parent in one transaction.
	Place int
}

// CreatePlain makes an ephemeral sequential node. The error wraps ErrNoNode (of the parent),
// ErrNoChildrenForEphemerals, ErrTooLarge, or ErrNoAuth.
func (c *Conn) CreatePlain(parent, prefix string, data []byte) (created Created, err error) {
	path := parent + "/" + prefix
	wrong := cmp.Or(checkPrefix(parent, prefix), checkSize(len(path)+len(data)))
	err = c.operate("create", path, wrong, func(absolute string) error {
		want := c.wants.want(opCreate, absolute, nil)
		defer want.done()
		var made string
		err := c.patiently(func() (err error) {
			made, err = c.zk.Create(absolute, data, zk.FlagEphemeralSequential, c.cfg.acl)
			return err
		})
		if err == nil {
			created.Name = lastElement(made)
			created.Czxid, err = want.czxid(made)
		}
		return err
	})
	return created, err
}

// CheckFirst refuses the first node of a session if the session may not READ it: then it could not find out what has become
// of a node. The error wraps ErrNoAuth. The node is still there.
func (c *Conn) CheckFirst(path string) error {
	if c.readable.Load() {
		return nil
	}
	err := c.Heartbeat(path)
	switch {
	case errors.Is(err, ErrNoAuth):
		return fmt.Errorf("its own session may not read it: %w", err)
	case err != nil && !errors.Is(err, ErrNoNode): // somebody may have deleted it
		return err
	}
	c.readable.Store(true)
	return nil
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// CreateBefore is CreatePlain, and calls next as soon as the create has gone out: the server
// carries out next's requests after it. It returns when both have their outcome. Only one caller
// may use a prefix, which has a GUID.
func (c *Conn) CreateBefore(parent, prefix string, data []byte, next func()) (created Created, err error) {
	c.before(c.cfg.chroot+parent+"/"+prefix, next, func() { created, err = c.CreatePlain(parent, prefix, data) })
	return created, err
}

// before runs create, and next as soon as the create of this path has gone out. next may use
// another connection: a listing counts only if it shows the new node, and so is not older than the
// create.
func (c *Conn) before(absolute string, next, create func()) {
	gone := make(chan struct{})
	defer c.wants.want(opCreate, absolute, gone).done()
	over := make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() {
		select {
		case <-gone:
			next()
		case <-over:
			select {
			case <-gone:
				next()
			default:
			}
		}
	})
	create()
	close(over)
	following.Wait()
}

// CreateNamed makes an ephemeral node with just this name. beside, unless empty, names a sibling
// that must exist in the same transaction. Nothing is made unless the session may READ the node, or
// the sibling.
//
// The error wraps ErrNodeExists, ErrNoNode (of the parent, or of beside: the Path tells),
// ErrNoAuth, ErrNoChildrenForEphemerals or ErrTooLarge.
func (c *Conn) CreateNamed(parent, name string, data []byte, beside string) (Created, error) {
	t := &transaction{conn: c, op: "create", path: parent + "/" + name}
	if beside != "" {
		t.check(anything, parent+"/"+beside, -1)
	}
	t.createNamed(t.path, data)
	if beside == "" {
		t.check(theNewNode, t.path, -1)
	}
	return t.named(name)
}

// errUnreadable: the refusal of the check of a node that was made in the same transaction.
var errUnreadable = fmt.Errorf("%w: its own session may not read it", ErrNoAuth)

func (t *transaction) createNamed(path string, data []byte) {
	t.create(path, CheckPath(path), data, t.conn.cfg.acl, zk.FlagEphemeral)
}

func (t *transaction) named(name string) (Created, error) {
	_, czxid, err := t.commit()
	if err != nil {
		return Created{}, err
	}
	return Created{Name: name, Czxid: czxid}, nil
}

// ReplaceNamed makes an ephemeral node with just this name, and deletes a sibling that has this
// version, in one transaction.
//
// ErrNoNode and ErrBadVersion with the Path of the sibling, where that is gone or was written to;
// otherwise as CreateNamed.
func (c *Conn) ReplaceNamed(parent, sibling string, version int32, name string, data []byte) (Created, error) {
	t := &transaction{conn: c, op: "replace", path: parent + "/" + name}
	t.delete(parent+"/"+sibling, version)
	t.createNamed(t.path, data)
	return t.named(name)
}

// CreateGuarded makes an ephemeral node with just this name, and its guard, an ephemeral sibling
// without data, in one transaction: neither, if one of them exists or the session may not READ the
// node.
//
// The error wraps ErrNodeExists, with the Path of the one that exists, ErrNoNode (of the parent),
// ErrNoAuth, ErrNoChildrenForEphemerals or ErrTooLarge.
func (c *Conn) CreateGuarded(parent, name, guard string, data []byte) (Created, error) {
	t := &transaction{conn: c, op: "create", path: parent + "/" + name}
	t.createNamed(t.path, data)
	t.check(theNewNode, t.path, -1)
	t.createNamed(parent+"/"+guard, []byte{})
	return t.named(name)
}
