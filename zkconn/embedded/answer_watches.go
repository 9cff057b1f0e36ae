package embedded

// setWatches sets the watches of a client's last connection again. If the node has changed since
// the zxid that the client has seen last, the client gets the event instead of the watch.
func (c *conn) setWatches(op Op, d *decoder) code {
	since := d.int64()
	lists := make([][]string, 3, 5)
	if op == OpSetWatches2 {
		lists = lists[:5]
	}
	for i := range lists {
		lists[i] = d.texts()
	}
	if d.err != nil {
		return codeMarshalling
	}
	set := []func(path string, since int64){c.setDataWatch, c.setExistWatch, c.setChildWatch,
		func(path string, _ int64) { c.setLastingWatch(path, lasting) },
		func(path string, _ int64) { c.setLastingWatch(path, recursively) }}
	for i, paths := range lists {
		if paths == nil {
			return codeMarshalling
		}
		for _, path := range paths {
			if path == null && i < 3 {
				return codeMarshalling
			}
			set[i](path, since)
		}
	}
	return codeOK
}

func (c *conn) setDataWatch(path string, since int64) {
	switch n := c.r.tree.nodes[path]; {
	case n == nil:
		c.notify(nodeDeleted, path, noZxid)
	case n.stat.mzxid > since:
		c.notify(nodeDataChanged, path, noZxid)
	default:
		c.r.tree.data.add(path, c, once)
	}
}

func (c *conn) setExistWatch(path string, _ int64) {
	if c.r.tree.nodes[path] != nil {
		c.notify(nodeCreated, path, noZxid)
		return
	}
	c.r.tree.data.add(path, c, once)
}

func (c *conn) setChildWatch(path string, since int64) {
	switch n := c.r.tree.nodes[path]; {
	case n == nil:
		c.notify(nodeDeleted, path, noZxid)
	case n.stat.pzxid > since:
		c.notify(nodeChildrenChanged, path, noZxid)
	default:
		c.r.tree.children.add(path, c, once)
	}
}

// addWatch sets a watch that lasts. A recursive one stands in the tree of data watches alone.
func (c *conn) addWatch(path string, asked int32, err error) (func(*encoder), code) {
	mode, ok := addWatchMode(asked)
	if err != nil || !ok {
		return nil, codeMarshalling
	}
	c.setLastingWatch(path, mode)
	return func(e *encoder) { e.int32(int32(codeOK)) }, codeOK
}

func (c *conn) setLastingWatch(path string, mode watchMode) {
	c.r.tree.data.add(path, c, mode)
	if mode != recursively {
		c.r.tree.children.add(path, c, mode)
	}
}

// watcherType is a kind of watch that a client asks about, as ZooKeeper numbers them (Watcher.WatcherType).
type watcherType int32

const (
	childrenWatcher            watcherType = 1
	dataWatcher                watcherType = 2
	anyWatcher                 watcherType = 3
	persistentWatcher          watcherType = 4
	persistentRecursiveWatcher watcherType = 5
)

// modes are the watches of that kind: on data, and on children. known is false for an unknown
// number.
func (t watcherType) modes() (data, children watchMode, known bool) {
	switch t {
	case childrenWatcher:
		return 0, once, true
	case dataWatcher:
		return once, 0, true
	case anyWatcher:
		return anyMode, anyMode, true
	case persistentWatcher:
		return lasting, lasting, true
	case persistentRecursiveWatcher:
		return recursively, 0, true
	}
	return 0, 0, false
}

func (c *conn) removeWatches(path string, which int32, err error) code {
	data, children, known := watcherType(which).modes()
	if err != nil || !known {
		return codeMarshalling
	}
	removed := c.r.tree.children.remove(path, c, children)
	removed = c.r.tree.data.remove(path, c, data) || removed
	if !removed {
		return codeNoWatcher
	}
	return codeOK
}

func (c *conn) checkWatches(path string, which int32, err error) code {
	data, children, known := watcherType(which).modes()
	if err != nil || !known {
		return codeMarshalling
	}
	if c.r.tree.data.has(path, c, data) || c.r.tree.children.has(path, c, children) {
		return codeOK
	}
	return codeNoWatcher
}
