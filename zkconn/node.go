package zkconn

import (
	"cmp"

	"github.com/go-zookeeper/zk"
)

// The operations on one node. Each blocks until its outcome is known or certain to stay unknown.
// All return an *Error: ErrBadPath (CheckPath), ErrClosed once the Conn is closed or expired,
// ErrNoAuth by the ACL, ErrUnknownOutcome when the connection was lost under way, and the errors
// named at each.

// Delete deletes a node of any version. ErrNoNode, ErrNotEmpty.
func (c *Conn) Delete(path string) error { return c.DeleteAt(path, -1) }

// DeleteAt deletes a node that has this version. ErrBadVersion, ErrNoNode, ErrNotEmpty.
func (c *Conn) DeleteAt(path string, version int32) error {
	return c.operate("delete", path, CheckPath(path), func(absolute string) error {
		return c.patiently(func() error { return c.zk.Delete(absolute, version) })
	})
}

// Children gives the names of a node's children, in no order. ErrNoNode.
func (c *Conn) Children(path string) ([]string, error) { return c.children("list", path, false) }

func (c *Conn) children(op, path string, watched bool) (names []string, err error) {
	err = c.operate(op, path, CheckPath(path), func(absolute string) (err error) {
		if watched {
			defer c.wants.want(opGetChildren2, absolute, nil).done()
		}
		names, err = c.list(absolute)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// ChildrenWatched is Children that leaves a watch, whose one event is NodeChildrenChanged or
// NodeDeleted: see GetWatched.
func (c *Conn) ChildrenWatched(path string) ([]string, error) {
	return c.children("list watched", path, true)
}

// RootChildren gives the children of the root, or the chroot, which no other operation takes.
// ErrNoNode where the chroot does not exist.
func (c *Conn) RootChildren() (names []string, err error) {
	err = c.operate("list", "/", nil, func(string) (err error) {
		names, err = c.list(cmp.Or(c.cfg.chroot, "/"))
		return err
	})
	return names, err
}

func (c *Conn) list(absolute string) (names []string, err error) {
	err = c.patiently(func() (err error) {
		names, _, err = c.zk.Children(absolute)
		return err
	})
	return names, err
}

// Sync makes all that the leader had committed when asked visible to later reads of this Conn. It
// does not prove that the session lives: an isolated leader answers it, too.
func (c *Conn) Sync(path string) error {
	return c.operate("sync", path, CheckPath(path), func(absolute string) error {
		return c.patiently(func() error {
			_, err := c.zk.Sync(absolute)
			return err
		})
	})
}

// Exists reports whether a node exists. Servers since 3.8.4 and 3.9.2 want READ for that (ZOOKEEPER-2590): ErrNoAuth.
func (c *Conn) Exists(path string) (Stat, bool, error) { return c.exists("exists", path, false) }

func (c *Conn) exists(op, path string, watched bool) (stat Stat, exists bool, err error) {
	err = c.operate(op, path, CheckPath(path), func(absolute string) error {
		if watched {
			defer c.wants.want(opExists, absolute, nil).done()
		}
		stat, exists, err = c.lookUp(absolute)
		return err
	})
	return stat, exists, err
}

func (c *Conn) lookUp(absolute string) (Stat, bool, error) {
	var exists bool
	var stat *zk.Stat
	err := c.patiently(func() (err error) {
		exists, stat, err = c.zk.Exists(absolute)
		return err
	})
	if err != nil || !exists {
		return Stat{}, false, err
	}
	return newStat(stat), true, nil
}

// ExistsWatched is Exists that leaves a watch, also on a missing node. Its one event is
// NodeCreated, NodeDataChanged or NodeDeleted: see GetWatched.
func (c *Conn) ExistsWatched(path string) (Stat, bool, error) {
	return c.exists("exists watched", path, true)
}

// Get gives a node's data. ErrNoNode.
func (c *Conn) Get(path string) ([]byte, Stat, error) { return c.read("get", path, false) }

// GetWatched gives a node's data and leaves a watch, unless it fails. Its one event
// (NodeDataChanged or NodeDeleted) comes through the sink, possibly before GetWatched returns.
// After a loss of connection the owner sets watches again, and so reads the changes of the
// meantime. A server keeps one that never fires until the connection ends, or DropWatches.
func (c *Conn) GetWatched(path string) ([]byte, Stat, error) {
	return c.read("get watched", path, true)
}

func (c *Conn) read(op, path string, watched bool) (data []byte, stat Stat, err error) {
	err = c.operate(op, path, CheckPath(path), func(absolute string) error {
		if watched {
			defer c.wants.want(opGetData, absolute, nil).done()
		}
		return c.patiently(func() error {
			found, its, err := c.zk.Get(absolute)
			if err == nil {
				data, stat = found, newStat(its)
			}
			return err
		})
	})
	return data, stat, err
}

// removedAtOnce bounds the removals before another request: some milliseconds of a server.
const removedAtOnce = 256

// DropWatches decides which watches of the present connection to remove, by asking wanted. remove
// asks the server to forget them (removeWatches); it blocks, so call it on another goroutine; nil
// where there is nothing to do. A watch for which a read goes out in between stays. So a caller
// that wants a watch before it sends the read, on one goroutine, never loses one.
//
// A server that does not know removeWatches is asked ever more rarely: remove is nil in between.
func (c *Conn) DropWatches(wanted func(path string, children bool) bool) (remove func()) {
	t := c.link.established()
	if t == nil {
		return nil
	}
	unwanted := t.standing.unwanted(func(w watch) bool { return wanted(w.path[len(c.cfg.chroot):], w.children) })
	if len(unwanted) == 0 {
		return nil
	}
	return func() {
		for i, w := range unwanted {
			if i > 0 && i%removedAtOnce == 0 {
				_, _, _ = c.Exists(w.path[len(c.cfg.chroot):]) // its answer follows theirs
			}
			t.removeWatch(w)
		}
	}
}

// SetData sets the data of a node of any version. ErrNoNode, ErrTooLarge.
func (c *Conn) SetData(path string, data []byte) error { return c.SetDataAt(path, data, -1) }

// SetDataAt sets the data of a node that has this version. ErrBadVersion where it has another, ErrNoNode, ErrTooLarge.
func (c *Conn) SetDataAt(path string, data []byte, version int32) error {
	wrong := cmp.Or(CheckPath(path), checkSize(len(path)+len(data)))
	return c.operate("set data", path, wrong, func(absolute string) error {
		return c.patiently(func() error {
			_, err := c.zk.Set(absolute, data, version)
			return err
		})
	})
}

// Heartbeat commits a transaction that checks that the node exists. Its success proves that the
// session had not ended just before the request was handed over; a read or a sync does not. The
// lease does not run from there: see package lease. ErrNoNode.
func (c *Conn) Heartbeat(path string) error {
	t := &transaction{conn: c, op: "heartbeat", path: path}
	t.check(anything, path, -1)
	_, _, err := t.commit()
	return err
}

// CatchUp returns when our server shows everything that was there when it was called. It commits a
// transaction that changes nothing; the node need not exist, and its ACL may forbid it. A sync is
// not enough: a leader answers its own clients' at once, and a follower may have told its client of
// a change before the leader has made it (seen: a deleted node was there after a sync). A refusal
// that a server gives by itself is returned.
func (c *Conn) CatchUp(path string) error {
	if err := c.Heartbeat(path); err != nil && !CommittedRefusal(err) {
		return err
	}
	return nil
}
