package embedded

// setWatches sets again what a client watched on its last connection, and catches up: where something has
// happened since the zxid that the client has seen last, it gets the event instead.
func (c *conn) setWatches(op Op, d *decoder) code {
	since := d.int64()
	data, exist, children := d.paths(), d.paths(), d.paths()
	var lastingPaths, recursivePaths []string
	if op == OpSetWatches2 {
		lastingPaths, recursivePaths = d.paths(), d.paths()
	}
	if d.err != nil {
		return codeMarshalling
	}
	t := c.r.tree
	for _, path := range data {
		switch n := t.nodes[path]; {
		case n == nil:
			c.notify(nodeDeleted, path)
		case n.stat.mzxid > since:
			c.notify(nodeDataChanged, path)
		default:
			t.data.add(path, c, once)
		}
	}
	for _, path := range exist {
		if t.nodes[path] != nil {
			c.notify(nodeCreated, path)
		} else {
			t.data.add(path, c, once)
		}
	}
	for _, path := range children {
		switch n := t.nodes[path]; {
		case n == nil:
			c.notify(nodeDeleted, path)
		case n.stat.pzxid > since:
			c.notify(nodeChildrenChanged, path)
		default:
			t.children.add(path, c, once)
		}
	}
	for _, path := range lastingPaths {
		c.watchBoth(path, lasting)
	}
	for _, path := range recursivePaths {
		c.watchBoth(path, recursively)
	}
	return codeOK
}

func (c *conn) watchBoth(path string, mode watchMode) {
	c.r.tree.data.add(path, c, mode)
	c.r.tree.children.add(path, c, mode)
}

func (c *conn) addWatch(path string, mode int32, err error) (func(*encoder), code) {
	if err != nil || mode != int32(lasting) && mode != int32(recursively) {
		return nil, codeMarshalling
	}
	c.watchBoth(path, watchMode(mode))
	return func(e *encoder) { e.int32(int32(codeOK)) }, codeOK
}

// The kinds of watch that a client may ask to remove, as ZooKeeper numbers them.
const (
	childrenWatch = 1
	dataWatch     = 2
	anyWatch      = 3
)

func (c *conn) removeWatches(path string, which int32, err error) code {
	if err != nil || which < childrenWatch || which > anyWatch {
		return codeMarshalling
	}
	removed := false
	if which != dataWatch {
		removed = c.r.tree.children.remove(path, c)
	}
	if which != childrenWatch {
		removed = c.r.tree.data.remove(path, c) || removed
	}
	if !removed {
		return codeNoWatcher
	}
	return codeOK
}

func (c *conn) checkWatches(path string, which int32, err error) code {
	if err != nil || which < childrenWatch || which > anyWatch {
		return codeMarshalling
	}
	if which != dataWatch && c.r.tree.children.contains(path, c) ||
		which != childrenWatch && c.r.tree.data.contains(path, c) {
		return codeOK
	}
	return codeNoWatcher
}
