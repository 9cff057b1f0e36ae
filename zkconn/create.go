package zkconn

import (
	"strings"
	"time"

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
	// Sent is the time just before the request was handed over, with a monotonic reading.
	Sent time.Time
}

// CreatePlain makes an ephemeral sequential node.
//
// The error wraps ErrNoNode when the parent does not exist, ErrNoChildrenForEphemerals, ErrTooLarge, or ErrNoAuth.
func (c *Conn) CreatePlain(parent, prefix string, data []byte) (Created, error) {
	var created Created
	path, err := c.operateOnNew("create", parent, prefix, data, func(absolute string) error {
		czxid, done := c.births.expect(absolute)
		defer done()
		created.Sent = time.Now()
		var made string
		err := c.patiently(func() (err error) {
			made, err = c.zk.Create(absolute, data, zk.FlagEphemeralSequential, c.cfg.acl)
			return err
		})
		if err != nil {
			return err
		}
		created.Name = lastElement(made)
		created.Czxid, err = czxid(made)
		return err
	})
	if err != nil {
		return created, c.failure("create", path, err)
	}
	return created, nil
}

// operateOnNew is operate for a node whose sequence number is still to be given. It gives the path for an error, as
// the caller knows it, and an error that is not yet an *Error where the library made it.
func (c *Conn) operateOnNew(op, parent, prefix string, data []byte, run func(absolute string) error) (string, error) {
	path := parent + "/" + prefix
	if err := checkPrefix(parent, prefix); err != nil {
		return path, &Error{op, path, err}
	}
	if err := checkSize(op, path, data); err != nil {
		return path, err
	}
	if err := c.gate.enter(); err != nil {
		return path, &Error{op, path, err}
	}
	defer c.gate.leave()
	return path, run(c.cfg.chroot + path)
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
