package zkconn

import (
	"bytes"

	"github.com/go-zookeeper/zk"
)

// Parents are nodes that MakeParents has made. The zero value has none.
type Parents struct {
	conn *Conn
	all  []string // at the server, each before those below it
}

// And adds what was made later, as when some were reaped meanwhile.
func (p Parents) And(later Parents) Parents {
	return Parents{conn: later.conn, all: append(p.all, later.all...)}
}

// Remove deletes them again, the lowest first, where nothing was put below them: for the caller whose node was refused.
// A container that never had a child is not reaped by any server. Data that is not data was written by somebody else:
// such a node stays, and so do those above it. What goes wrong is not told, because the node's refusal is what the
// caller has to tell, and a parent too many harms nobody.
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

// removeParent deletes a node that has this data, or none. A node that gets other data between the look and the delete
// has another version then.
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
