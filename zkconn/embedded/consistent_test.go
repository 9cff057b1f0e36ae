package embedded

import (
	"fmt"
	"slices"
)

// inconsistency compares all state that a server keeps in two places, and says where the two
// disagree. It is nil between any two requests.
func inconsistency(s *Server) error {
	e := s.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := soundSessions(e); err != nil {
		return err
	}
	for _, r := range e.replicas {
		if r.tree.zxid > e.zxid {
			return fmt.Errorf("replica %d is at zxid %x, and the newest is %x", r.number, r.tree.zxid, e.zxid)
		}
		for _, check := range []func(*Replica) error{soundNodes, soundOwners, soundConns} {
			if err := check(r); err != nil {
				return fmt.Errorf("replica %d: %w", r.number, err)
			}
		}
		for _, w := range []*watches{&r.tree.data, &r.tree.children} {
			if err := soundWatches(r, w); err != nil {
				return fmt.Errorf("replica %d: %w", r.number, err)
			}
		}
	}
	return nil
}

func soundSessions(e *ensemble) error {
	if err := soundSet(&e.sessionOrder); err != nil {
		return fmt.Errorf("order of sessions: %w", err)
	}
	if len(e.sessions) != e.sessionOrder.len() {
		return fmt.Errorf("%d sessions, and %d in their order", len(e.sessions), e.sessionOrder.len())
	}
	for id, s := range e.sessions {
		if s.id != id || !e.sessionOrder.has(id) || s.created < e.minTimeout || s.created > e.maxTimeout {
			return fmt.Errorf("session %x: %+v", id, *s)
		}
	}
	return nil
}

func soundSet[T comparable](s *set[T]) error {
	for i, item := range s.items {
		if s.at != nil && s.at[item] != i || slices.Contains(s.items[:i], item) {
			return fmt.Errorf("%v is not in one place", item)
		}
	}
	if s.at != nil && len(s.at) != len(s.items) {
		return fmt.Errorf("%d items and %d places", len(s.items), len(s.at))
	}
	return nil
}

func soundNodes(r *Replica) error {
	t := r.tree
	if t.nodes[""] == nil || t.nodes[""] != t.nodes[rootPath] {
		return fmt.Errorf("the root's names differ")
	}
	children, bytes := 0, int64(0)
	for path, n := range t.nodes {
		if path == "" {
			continue
		}
		if err := soundNode(t, path, n); err != nil {
			return fmt.Errorf("node %q: %w", path, err)
		}
		children += n.children.len()
		bytes += int64(len(path) + len(n.data))
	}
	if children != len(t.nodes)-2 {
		return fmt.Errorf("%d nodes have a parent, of %d", children, len(t.nodes)-2)
	}
	if bytes != t.bytes {
		return fmt.Errorf("%d bytes, counted as %d", bytes, t.bytes)
	}
	return nil
}

func soundNode(t *tree, path string, n *node) error {
	if path != rootPath {
		parentPath, name, ok := splitPath(path)
		parent := t.nodes[parentPath]
		switch {
		case !ok || !validPath(path):
			return fmt.Errorf("no valid path")
		case parent == nil || !parent.children.has(name):
			return fmt.Errorf("its parent does not know it")
		case life(parent.stat.owner) == ephemeral:
			return fmt.Errorf("its parent is ephemeral")
		}
	}
	s := n.stat
	if s.czxid > s.mzxid || s.czxid > s.pzxid || s.mzxid > t.zxid || s.pzxid > t.zxid {
		return fmt.Errorf("zxids %x, %x, %x at %x", s.czxid, s.mzxid, s.pzxid, t.zxid)
	}
	// Of the nodes that are there from the beginning two have children that nobody has created.
	if len(n.acl) == 0 || !special(path) && int(s.cversion) < n.children.len() {
		return fmt.Errorf("stat %+v, permissions %v", *n.seen(), n.acl)
	}
	return soundSet(&n.children)
}

// soundOwners compares the indexes of nodes that end by themselves with the nodes.
func soundOwners(r *Replica) error {
	t := r.tree
	owned, reapable := 0, 0
	for path, n := range t.nodes {
		switch life(n.stat.owner) {
		case container, timed:
			reapable++
			if !t.reapable.has(path) {
				return fmt.Errorf("%q would never be reaped", path)
			}
		case ephemeral:
			owned++
			if !t.ephemerals[n.stat.owner].has(path) {
				return fmt.Errorf("%q is not among its session's nodes", path)
			}
			if r == r.e.leader && r.e.sessions[n.stat.owner] == nil {
				return fmt.Errorf("%q has outlived its session", path)
			}
		}
	}
	if reapable != t.reapable.len() {
		return fmt.Errorf("%d nodes to reap, %d known", reapable, t.reapable.len())
	}
	for id, paths := range t.ephemerals {
		owned -= paths.len()
		if err := soundSet(paths); err != nil {
			return fmt.Errorf("session %x: %w", id, err)
		}
	}
	if owned != 0 {
		return fmt.Errorf("%d more ephemeral nodes than their sessions know", owned)
	}
	return soundSet(&t.reapable)
}

func soundConns(r *Replica) error {
	for _, c := range r.conns.items {
		if c.phase == closed || c.r != r {
			return fmt.Errorf("a closed connection of session %x", c.sessionID)
		}
	}
	for id, c := range r.bySession {
		if c.sessionID != id || c.phase < established || !r.conns.has(c) {
			return fmt.Errorf("session %x has another's connection", id)
		}
	}
	return soundSet(&r.conns)
}

func soundWatches(r *Replica, w *watches) error {
	byPath, byConn, recursive := 0, 0, 0
	for path, conns := range w.byPath {
		byPath += conns.len()
		if conns.len() == 0 {
			return fmt.Errorf("nobody watches %q", path)
		}
		for _, c := range conns.items {
			if of := c.(*conn); !w.byConn[c].has(path) || !r.conns.has(of) {
				return fmt.Errorf("session %x does not know that it watches %q", of.sessionID, path)
			}
		}
	}
	for _, paths := range w.byConn {
		byConn += paths.len()
	}
	for of, mode := range w.modes {
		if mode&recursively != 0 {
			recursive++
		}
		if !w.byConn[of.by].has(of.path) {
			return fmt.Errorf("a mode of %q, which is not watched", of.path)
		}
	}
	if byPath != byConn || recursive != w.recursive {
		return fmt.Errorf("%d watches by path, %d by connection; %d recursive, counted as %d",
			byPath, byConn, recursive, w.recursive)
	}
	return nil
}
