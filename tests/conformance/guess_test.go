package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// guess is which nodes there are, so that more than a few of the drawn operations find one. It knows
// nothing of permissions, and need not be right: what it says is never compared.
type guess map[string]guessed

type guessed struct {
	made, children int
	version        int64
	owner          int // the session's slot, or nobody
}

const nobody = -1

// nodes lists the nodes that satisfy a condition, in a stable order.
func (g guess) nodes(satisfy func(string, guessed) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g)), func(p string) bool { return !satisfy(p, g[p]) })
}

// follow applies an operation, and says whether it probably succeeded.
func (g guess) follow(session int, o operation) bool {
	path, _ := o.get("path")
	switch {
	case o.name == burst:
		for _, part := range o.parts {
			g.follow(session, part)
		}
		return true
	case o.name == "multi":
		after := maps.Clone(g)
		for _, part := range o.parts {
			if !after.follow(session, part) {
				return false
			}
		}
		clear(g)
		maps.Copy(g, after)
		return true
	case o.name == "close":
		for _, p := range g.nodes(func(_ string, n guessed) bool { return n.owner == session }) {
			g.remove(p)
		}
		return true
	case strings.HasPrefix(o.name, "create"):
		return g.create(session, path, o)
	case o.name == "delete":
		n, ok := g[path]
		return ok && path != "~" && n.children == 0 && n.takes(o) && g.remove(path)
	case o.name == "deleteContainer":
		n, ok := g[path]
		return ok && path != "~" && n.children == 0 && n.owner == nobody && g.remove(path)
	case o.name == "setData", o.name == "check":
		n, ok := g[path]
		ok = ok && n.takes(o)
		if ok && o.name == "setData" {
			n.version++
			g[path] = n
		}
		return ok
	default:
		return true
	}
}

func (n guessed) takes(o operation) bool {
	version := o.number("version", -1)
	return version == -1 || version == n.version
}

func (g guess) create(session int, path string, o operation) bool {
	flags := o.number("flags", 0)
	acl, restricted := o.get("acl")
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || flags < 0 || flags > 6 || restricted && !slices.Contains(goodACLs, acl) {
		return false
	}
	parent, ok := g[path[:slash]]
	if !ok || parent.owner != nobody {
		return false
	}
	if slices.Contains([]int64{2, 3, 6}, flags) {
		path = fmt.Sprintf("%s%010d", path, parent.made)
	}
	if _, exists := g[path]; exists || strings.HasSuffix(path, "/") {
		return false
	}
	n := guessed{owner: nobody}
	if flags == 1 || flags == 3 {
		n.owner = session
	}
	parent.made++
	parent.children++
	g[path[:slash]] = parent
	g[path] = n
	return true
}

func (g guess) remove(path string) bool {
	parent := g[path[:strings.LastIndexByte(path, '/')]]
	parent.children--
	g[path[:strings.LastIndexByte(path, '/')]] = parent
	delete(g, path)
	return true
}
