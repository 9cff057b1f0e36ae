package embedded

import "strings"

// setWatches sets again what a client watched on its last connection, and catches up: where something has
// happened since the zxid that the client has seen last, it gets the event instead.
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
		func(path string, _ int64) { c.watchBoth(path, lasting) },
		func(path string, _ int64) { c.watchBoth(path, recursively) }}
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
		c.notify(nodeDeleted, path)
	case n.stat.mzxid > since:
		c.notify(nodeDataChanged, path)
	default:
		c.r.tree.data.add(path, c, once)
	}
}

func (c *conn) setExistWatch(path string, _ int64) {
	if c.r.tree.nodes[path] != nil {
		c.notify(nodeCreated, path)
		return
	}
	c.r.tree.data.add(path, c, once)
}

func (c *conn) setChildWatch(path string, since int64) {
	switch n := c.r.tree.nodes[path]; {
	case n == nil:
		c.notify(nodeDeleted, path)
	case n.stat.pzxid > since:
		c.notify(nodeChildrenChanged, path)
	default:
		c.r.tree.children.add(path, c, once)
	}
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
	if err != nil || path == null || which < childrenWatch || which > anyWatch {
		return codeMarshalling
	}
	if path != "" && !strings.Contains(path, "/") {
		return codeMarshalling // 3.8.0 looks for its parent
	}
	if which != dataWatch && c.r.tree.children.contains(path, c) ||
		which != childrenWatch && c.r.tree.data.contains(path, c) {
		return codeOK
	}
	return codeNoWatcher
}
