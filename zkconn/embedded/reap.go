package embedded

import (
	"slices"
	"time"
)

// reap deletes containers whose last child has gone, and nodes that have outlived their time without one.
// A container that never had a child stays.
func (e *ensemble) reap(now time.Time) {
	if e.leader == nil {
		return
	}
	t := e.leader.tree
	for _, path := range slices.Clone(t.reapable.items) {
		n := t.nodes[path]
		if n == nil || n.children.len() > 0 {
			continue
		}
		switch life(n.stat.owner) {
		case container:
			if n.stat.cversion == 0 {
				continue
			}
		case timed:
			ttl := n.stat.owner & maxTTL
			if now.UnixMilli()-n.stat.mtime <= ttl {
				continue
			}
		}
		e.enter(func() { e.reapNode(path) })
	}
}

func (e *ensemble) reapNode(path string) {
	x := &txn{op: OpDeleteContainer, zxid: e.nextZxid(), time: e.millis()}
	p := preparation{tree: e.leader.tree, zxid: x.zxid, now: x.time}
	made, refused := p.deleteContainer(path)
	if refused != codeOK {
		x.op, x.code = opError, refused
	} else {
		x.parts = []part{made}
	}
	e.commit(x)
}
