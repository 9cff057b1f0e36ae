package embedded

import (
	"slices"
	"strings"
)

// watchMode says how long a watch lasts and how far it reaches. A connection may have one of each
// kind on a path.
type watchMode uint8

const (
	once        watchMode = 1 << iota // fires once
	lasting                           // AddWatchMode.PERSISTENT
	recursively                       // AddWatchMode.PERSISTENT_RECURSIVE: the node and all below it
)

// anyMode is all kinds of watch.
const anyMode = once | lasting | recursively

// addWatchMode is the mode that an addWatch asks for by number.
func addWatchMode(asked int32) (watchMode, bool) {
	switch asked {
	case 0:
		return lasting, true
	case 1:
		return recursively, true
	}
	return 0, false
}

// watches has the watchers of each path. A tree has two of them, as ZooKeeper has (WatchManager):
// for data, with existence, and for children. Recursive watches are in the former alone: they hear
// of no changes of children.
type watches struct {
	byPath    map[string]*set[watcher]
	byConn    map[watcher]*set[string]
	modes     map[watch]watchMode // of all that are in byPath
	recursive int
}

// watcher is a connection that watches.
type watcher interface {
	// mayRead reports whether a list of permissions lets its client read the node.
	mayRead(acl []access) bool
	notify(event eventType, path string, zxid int64)
}

type watch struct {
	by   watcher
	path string
}

func newWatches() watches {
	return watches{byPath: map[string]*set[watcher]{}, byConn: map[watcher]*set[string]{}, modes: map[watch]watchMode{}}
}

// add sets a watch beside those of other kinds that the connection has on the path.
func (w *watches) add(path string, c watcher, mode watchMode) {
	watchers := w.byPath[path]
	if watchers == nil {
		watchers = &set[watcher]{}
		w.byPath[path] = watchers
	}
	watchers.add(c)
	paths := w.byConn[c]
	if paths == nil {
		paths = &set[string]{}
		w.byConn[c] = paths
	}
	paths.add(path)
	of := watch{c, path}
	if mode == recursively && w.modes[of]&recursively == 0 {
		w.recursive++
	}
	w.modes[of] |= mode
}

// remove takes the watches of these kinds away. It reports whether there was one.
func (w *watches) remove(path string, c watcher, modes watchMode) bool {
	of := watch{c, path}
	had := w.modes[of]
	if had&modes == 0 {
		return false
	}
	if had&modes&recursively != 0 {
		w.recursive--
	}
	if left := had &^ modes; left != 0 {
		w.modes[of] = left
		return true
	}
	delete(w.modes, of)
	w.byConn[c].remove(path)
	if watchers := w.byPath[path]; watchers.remove(c) && watchers.len() == 0 {
		delete(w.byPath, path)
	}
	return true
}

// removeAll forgets a connection.
func (w *watches) removeAll(c watcher) {
	paths := w.byConn[c]
	if paths == nil {
		return
	}
	for _, path := range slices.Clone(paths.items) {
		w.remove(path, c, anyMode)
	}
	delete(w.byConn, c)
}

// trigger sends the event to the connections that watch the path, except to those that were told
// already, and returns all that it found. The event carries the zxid of its transaction. A client
// that may not read the node is not told.
func (w *watches) trigger(path string, event eventType, zxid int64, acl []access, told []watcher) []watcher {
	var found []watcher
	if here := w.byPath[path]; here != nil {
		found = slices.Clone(here.items)
		for _, c := range found {
			w.remove(path, c, once)
		}
	}
	if w.recursive > 0 {
		found = w.above(path, found)
	}
	for _, c := range found {
		if !slices.Contains(told, c) && c.mayRead(acl) {
			c.notify(event, path, zxid)
		}
	}
	return found
}

// above adds the connections that watch one of the path's ancestors recursively.
func (w *watches) above(path string, found []watcher) []watcher {
	for path != rootPath {
		path = shown(path[:strings.LastIndexByte(path, '/')])
		if here := w.byPath[path]; here != nil {
			for _, c := range here.items {
				if w.has(path, c, recursively) && !slices.Contains(found, c) {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// has reports whether the connection watches the path in one of these ways.
func (w *watches) has(path string, c watcher, modes watchMode) bool {
	return w.modes[watch{c, path}]&modes != 0
}

// count is the number of watches: each path counts once for each connection that watches it.
func (w *watches) count() int { return len(w.modes) }
