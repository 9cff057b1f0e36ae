package embedded

import (
	"slices"
	"strings"
)

// watchMode is how a watch lasts and how far it reaches.
type watchMode int32

const (
	once        watchMode = -1 // fires once
	lasting     watchMode = 0  // AddWatchMode.PERSISTENT
	recursively watchMode = 1  // AddWatchMode.PERSISTENT_RECURSIVE: the node and all below it
)

// watches are who watches which path. A tree has two of them, as ZooKeeper has: for data, with existence,
// and for children. A watch that is set again in another way is from then on what it was set as last; so a
// read with a watch turns a persistent watch of its connection into one that fires once, which is what
// 3.8.0 does.
type watches struct {
	byPath    map[string]*set[*conn]
	byConn    map[*conn]*set[string]
	modes     map[watch]watchMode // those that are not once
	recursive int
}

type watch struct {
	conn *conn
	path string
}

func newWatches() watches {
	return watches{byPath: map[string]*set[*conn]{}, byConn: map[*conn]*set[string]{}, modes: map[watch]watchMode{}}
}

func (w *watches) add(path string, c *conn, mode watchMode) {
	watchers := w.byPath[path]
	if watchers == nil {
		watchers = &set[*conn]{}
		w.byPath[path] = watchers
	}
	watchers.add(c)
	paths := w.byConn[c]
	if paths == nil {
		paths = &set[string]{}
		w.byConn[c] = paths
	}
	paths.add(path)
	w.setMode(watch{c, path}, mode)
}

func (w *watches) setMode(of watch, mode watchMode) {
	if w.mode(of) == recursively {
		w.recursive--
	}
	if mode == recursively {
		w.recursive++
	}
	if mode == once {
		delete(w.modes, of)
		return
	}
	w.modes[of] = mode
}

func (w *watches) mode(of watch) watchMode {
	if mode, ok := w.modes[of]; ok {
		return mode
	}
	return once
}

// remove reports whether the connection watched the path.
func (w *watches) remove(path string, c *conn) bool {
	if !w.byConn[c].remove(path) {
		return false
	}
	w.forget(path, c)
	w.setMode(watch{c, path}, once)
	return true
}

func (w *watches) forget(path string, c *conn) {
	watchers := w.byPath[path]
	if watchers.remove(c) && watchers.len() == 0 {
		delete(w.byPath, path)
	}
}

// removeAll forgets a connection.
func (w *watches) removeAll(c *conn) {
	paths := w.byConn[c]
	if paths == nil {
		return
	}
	delete(w.byConn, c)
	for _, path := range paths.items {
		w.forget(path, c)
		w.setMode(watch{c, path}, once)
	}
}

// trigger tells who watches the path, but for those that were told already, and gives back whom it found.
// Nobody is told of a node that its list of permissions does not let them read.
func (w *watches) trigger(path string, event eventType, acl []access, told []*conn) []*conn {
	var found []*conn
	if here := w.byPath[path]; here != nil {
		for _, c := range slices.Clone(here.items) {
			switch w.mode(watch{c, path}) {
			case once:
				found = append(found, c)
				w.byConn[c].remove(path)
				w.forget(path, c)
			case lasting:
				found = append(found, c)
			case recursively:
				if event != nodeChildrenChanged {
					found = append(found, c)
				}
			}
		}
	}
	if w.recursive > 0 && event != nodeChildrenChanged {
		found = w.above(path, found)
	}
	for _, c := range found {
		if !slices.Contains(told, c) && allowed(acl, permRead, c.who) {
			c.notify(event, path)
		}
	}
	return found
}

// above adds those who watch one of the path's ancestors with all that is below.
func (w *watches) above(path string, found []*conn) []*conn {
	for path != rootPath {
		path = shown(path[:strings.LastIndexByte(path, '/')])
		if here := w.byPath[path]; here != nil {
			for _, c := range here.items {
				if w.mode(watch{c, path}) == recursively && !slices.Contains(found, c) {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// contains answers checkWatches as 3.8.0 does: a path that anybody watches counts, and so does an ancestor
// when the connection's own watch of the path is recursive.
func (w *watches) contains(path string, c *conn) bool {
	if path == "" {
		return false
	}
	return w.byPath[path] != nil || w.mode(watch{c, path}) == recursively
}

func (w *watches) count() int {
	n := 0
	for _, paths := range w.byConn {
		n += paths.len()
	}
	return n
}
