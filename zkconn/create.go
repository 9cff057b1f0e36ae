package zkconn

import (
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

// CreatePlain makes an ephemeral sequential node.
//
// The error wraps ErrNoNode when the parent does not exist, ErrNoChildrenForEphemerals, ErrTooLarge, or ErrNoAuth.
func (c *Conn) CreatePlain(parent, prefix string, data []byte) (created Created, err error) {
	const op = "create"
	path := parent + "/" + prefix
	if err := checkPrefix(parent, prefix); err != nil {
		return created, &Error{op, path, err}
	}
	if err := checkSize(op, path, data); err != nil {
		return created, err
	}
	if err := c.gate.enter(); err != nil {
		return created, &Error{op, path, err}
	}
	defer c.gate.leave()
	want := c.wants.want(opCreate, c.cfg.chroot+path, nil)
	defer want.done()
	var made string
	err = c.patiently(func() (err error) {
		made, err = c.zk.Create(want.path, data, zk.FlagEphemeralSequential, c.cfg.acl)
		return err
	})
	if err == nil {
		created.Name = lastElement(made)
		created.Czxid, err = want.czxid(made)
	}
	if err != nil {
		return created, c.failure(op, path, err)
	}
	return created, nil
}

// CheckFirst deletes the first node of a session again if the session may not READ it: then it could not find out what has
// become of a node. The error wraps ErrNoAuth.
func (c *Conn) CheckFirst(path string) error {
	if c.readable.Load() {
		return nil
	}
	err := c.Heartbeat(path)
	switch {
	case errors.Is(err, ErrNoAuth):
		if failed := c.Delete(path); failed != nil {
			return failed
		}
		return fmt.Errorf("its own session may not read it: %w", err)
	case err != nil && !errors.Is(err, ErrNoNode): // somebody may have deleted it
		return err
	}
	c.readable.Store(true)
	return nil
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// CreateBefore is CreatePlain, and calls next as soon as the create goes out. The server carries
// out the requests of next after the create, and nobody has waited for an answer. It returns when
// both have. next is not called when the create has not gone out. Only one caller may use a prefix
// at a time: it has a GUID.
func (c *Conn) CreateBefore(parent, prefix string, data []byte, next func()) (created Created, err error) {
	c.before(c.cfg.chroot+parent+"/"+prefix, next, func() { created, err = c.CreatePlain(parent, prefix, data) })
	return created, err
}

// before runs create, and next as soon as the create of this path has gone out. It returns when both
// have. The requests of next may go over another connection: a listing counts only if it shows the
// new node, and then it is not older than the create.
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

// CreateNamed makes an ephemeral node with just this name. beside, unless it
// is empty, names a sibling that must exist then: both are one transaction, so nobody can have come
// between the two. Its session has to be able to READ the node, or the sibling: the transaction
// checks that, and nothing is made otherwise.
//
// The error wraps ErrNodeExists, ErrNoNode (of the parent, or of beside: the Path tells),
// ErrNoAuth, ErrNoChildrenForEphemerals or ErrTooLarge.
func (c *Conn) CreateNamed(parent, name string, data []byte, beside string) (Created, error) {
	const op = "create"
	return c.createNamed(op, parent, name, data, func(create *zk.CreateRequest) []any {
		if beside == "" {
			return []any{create, &zk.CheckVersionRequest{Path: create.Path, Version: -1}}
		}
		return []any{&zk.CheckVersionRequest{Path: c.cfg.chroot + parent + "/" + beside, Version: -1}, create}
	}, func(part int, cause error) error {
		switch {
		case beside != "" && part == 0:
			return c.failure(op, parent+"/"+beside, cause)
		case beside == "" && part == 1:
			return unreadable(cause)
		}
		return cause
	})
}

// unreadable explains the refusal of the check of a node that was made in the same transaction.
func unreadable(cause error) error {
	if errors.Is(cause, zk.ErrNoAuth) {
		return fmt.Errorf("its own session may not read it: %w", cause)
	}
	return cause
}

// createNamed makes an ephemeral node with just this name, in a transaction of parts; why makes an error of its refusal.
func (c *Conn) createNamed(op, parent, name string, data []byte, parts func(*zk.CreateRequest) []any,
	why func(part int, cause error) error) (created Created, err error) {
	path := parent + "/" + name
	err = c.operate(op, path, func(absolute string) error {
		if err := checkSize(op, path, data); err != nil {
			return err
		}
		want := c.wants.want(opCreate, absolute, nil)
		defer want.done()
		create := &zk.CreateRequest{Path: absolute, Data: data, Acl: c.cfg.acl, Flags: zk.FlagEphemeral}
		_, err := c.transact(parts(create)...)
		var refused *partError
		switch {
		case errors.As(err, &refused):
			return why(refused.part, refused.cause)
		case err != nil:
			return err
		}
		created.Name = name
		created.Czxid, err = want.czxid(absolute)
		return err
	})
	return created, err
}

// ReplaceNamed makes an ephemeral node with just this name in place of a sibling, which is deleted if it has this
// version: both are one transaction.
//
// ErrNoNode and ErrBadVersion with the Path of the sibling, where that is gone or was written to; otherwise as
// CreateNamed.
func (c *Conn) ReplaceNamed(parent, sibling string, version int32, name string, data []byte) (Created, error) {
	const op = "replace"
	return c.createNamed(op, parent, name, data, func(create *zk.CreateRequest) []any {
		return []any{&zk.DeleteRequest{Path: c.cfg.chroot + parent + "/" + sibling, Version: version}, create}
	}, func(part int, cause error) error {
		if part == 0 {
			return c.failure(op, parent+"/"+sibling, cause)
		}
		return cause
	})
}
