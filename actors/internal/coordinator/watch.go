package coordinator

import "slices"

// watcher is somebody who waits for news of a node, or of a list of children.
type watcher struct {
	request RequestID // 0 for a retained node, which is nobody's
	role    role
	node    string // that is retained
}

// role is what the news are for.
type role uint8

const (
	// waits: the node keeps the request out of the lock, or says something of who does.
	waits role = iota
	// looksAhead: it is the one before its predecessor.
	looksAhead
	// holds: it is its own.
	holds
	// retains: it is retained, and who comes behind it is of interest.
	retains
)

// watch registers a watcher of a node.
func (p *lockPath) watch(name string, w watcher) {
	p.watchers[name] = append(p.watchers[name], w)
}

// drop takes a watcher off a node.
func (p *lockPath) drop(name string, w watcher) {
	if left := without(p.watchers[name], w); len(left) == 0 {
		delete(p.watchers, name)
	} else {
		p.watchers[name] = left
	}
}

func without(all []watcher, w watcher) []watcher {
	if at := slices.Index(all, w); at >= 0 {
		return slices.Delete(slices.Clone(all), at, at+1)
	}
	return all
}

// changed gives an event of something that is watched to those who asked for it, and to nobody else. A watch tells once.
func (c *Coordinator) changed(in Changed) {
	path, name := split(in.Path)
	if p := c.epoch.paths[path]; p != nil && in.Change != ChildrenChanged {
		all := p.watchers[name]
		delete(p.watchers, name)
		for _, w := range all {
			c.hear(p, name, w, in.Change)
		}
	}
	p := c.epoch.paths[in.Path]
	if p == nil {
		return
	}
	if in.Change != ChildrenChanged {
		all := p.watchers[""]
		delete(p.watchers, "")
		for _, w := range all {
			c.hear(p, "", w, in.Change)
		}
	}
	if in.Change != DataChanged {
		all := p.children
		p.children = nil
		for _, w := range all {
			c.hear(p, "", w, in.Change)
		}
	}
}

// split takes the path of a node apart.
func split(path string) (parent, name string) {
	for at := len(path) - 1; at >= 0; at-- {
		if path[at] == '/' {
			return path[:at], path[at+1:]
		}
	}
	return "", path
}

// hear takes news for one watcher, which is not registered any more.
func (c *Coordinator) hear(p *lockPath, name string, w watcher, change Change) {
	switch w.role {
	case holds:
		c.ownChanged(c.requests[w.request], name, change)
	case retains:
		c.arrived(p, w.node, change != ChildrenChanged)
	default:
		c.stirred(p, name, w, change, false)
	}
}

// unwatch drops all that a request watches.
func (c *Coordinator) unwatch(r *request) {
	c.endWait(r)
	c.unwatchOwn(r)
}
