package zkconn

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Created is a contender node that was made.
type Created struct {
	// Name is the last element of its path: the prefix and ten digits.
	Name string
	// Czxid is the transaction that made it; 0 when that is not known.
	Czxid int64
	// Siblings is the number of its parent's children right after, itself included; -1 when that is not known.
	Siblings int32
	// Place is its place, from 0, among the creates of its parent in one transaction, and Together how many of them
	// there were: 0 where it was made alone.
	Place, Together int
	// Sent is the time just before the request was handed over, with a monotonic reading.
	Sent time.Time
}

// CreateCounted makes an ephemeral sequential node, and reads its czxid and the number of its
// siblings in the same round trip. In one transaction it sets the parent's data to nothing; the
// stat of that part is the parent's right after the create. Use it only for a parent whose data are
// empty: they will be.
//
// The error wraps ErrNoNode when the parent does not exist, ErrNoChildrenForEphemerals,
// ErrTooLarge, or ErrNoAuth. The Path of ErrNoAuth tells the parts apart: the parent's own when its
// data may not be set, the node's when it may not be created.
func (c *Conn) CreateCounted(parent, prefix string, data []byte) (Created, error) {
	var created Created
	path, err := c.operateOnNew("create counted", parent, prefix, data, func(absolute, absoluteParent string) error {
		created.Sent = time.Now()
		results, err := c.transact(
			&zk.CreateRequest{Path: absolute, Data: data, Acl: c.cfg.acl, Flags: zk.FlagEphemeralSequential},
			&zk.SetDataRequest{Path: absoluteParent, Data: []byte{}, Version: -1},
		)
		if err != nil {
			return err
		}
		if results[1].Stat == nil || results[0].String == "" {
			return errors.New("reply to a transaction has parts of other kinds")
		}
		created.Name = lastElement(results[0].String)
		created.Czxid = results[1].Stat.Mzxid
		created.Siblings = results[1].Stat.NumChildren
		return nil
	})
	if err == nil {
		return created, nil
	}
	var refused *partError
	if errors.As(err, &refused) {
		if err = refused.cause; refused.part == 1 {
			path = parent // the second part is about the parent
		}
	}
	return Created{Siblings: -1, Sent: created.Sent}, c.failure("create counted", path, err)
}

// CreatePlain makes an ephemeral sequential node without touching its parent's data; Siblings is -1. Errors are those of
// CreateCounted.
func (c *Conn) CreatePlain(parent, prefix string, data []byte) (Created, error) {
	created := Created{Siblings: -1}
	path, err := c.operateOnNew("create", parent, prefix, data, func(absolute, _ string) error {
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
func (c *Conn) operateOnNew(op, parent, prefix string, data []byte, run func(absolute, absoluteParent string) error) (string, error) {
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
	return path, run(c.cfg.chroot+path, c.cfg.chroot+parent)
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// CreateBefore is CreatePlain, and calls next as soon as the create goes out. The server carries
// out the requests of next after the create, and nobody has waited for an answer. It returns when
// both have. next is not called when the create has not gone out. Only one caller may use a prefix
// at a time: it has a GUID.
func (c *Conn) CreateBefore(parent, prefix string, data []byte, next func()) (Created, error) {
	gone, done := c.awaited.await(c.cfg.chroot + parent + "/" + prefix)
	defer done()
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
	created, err := c.CreatePlain(parent, prefix, data)
	close(over)
	following.Wait()
	return created, err
}
