package conformance

import (
	"strings"

	"pgregory.net/rapid"
)

// field draws an argument. False leaves it as the layout has it.
func (g *generator) field(name string, f field) (string, bool) {
	switch f.kind {
	case kindPath:
		return g.path(name), true
	case kindPaths:
		var paths []string
		for range rapid.IntRange(0, 3).Draw(g.T, f.key) {
			paths = append(paths, g.path(name))
		}
		return "[" + strings.Join(paths, ",") + "]", true
	case kindACL:
		return g.acl(name), true
	case kindBool:
		return pick(g.T, f.key, []string{"true", "false"}), true
	case kindZxid:
		return pick(g.T, f.key, zxids), true
	}
	switch f.key {
	case "data":
		if g.seldom("big", 2000) {
			return pick(g.T, "data", bigDatas), true
		}
		return pick(g.T, "data", datas), true
	case "flags":
		return g.flags(name), true
	case "scheme":
		return pick(g.T, f.key, schemes), true
	case "auth":
		return pick(g.T, f.key, auths), true
	}
	if pool, ok := numbers[f.key]; ok {
		if g.seldom("odd", 4) {
			return pick(g.T, f.key, pool.odd), true
		}
		return pick(g.T, f.key, pool.usual), true
	}
	return "", false
}

// acl draws a list that says everything to everyone where it is not the point of the operation.
func (g *generator) acl(name string) string {
	switch {
	case name != "setACL" && !g.seldom("acl", 5):
		return openACL
	case g.seldom("any acl", 4):
		return pick(g.T, "acl", acls)
	default:
		return pick(g.T, "acl", goodACLs)
	}
}

// flags draws flags, and those that fit the operation more often.
func (g *generator) flags(name string) string {
	if g.seldom("any flags", 10) {
		return pick(g.T, "flags", flags)
	}
	switch name {
	case "createContainer":
		return "4"
	case "createTTL":
		return pick(g.T, "flags", []string{"5", "6"})
	default:
		return pick(g.T, "flags", []string{"0", "2", "1", "0", "3", "0"})
	}
}

// path draws a path that a node probably has, or for a create one that it could have. It keeps writes
// away from what all sequences share, but for the data of "/".
func (g *generator) path(name string) string {
	rare := rarePaths
	if watched := g.watched[g.session]; len(watched) > 0 && strings.HasSuffix(name, "Watches") && !g.seldom("unwatched", 3) {
		return pick(g.T, "watched", watched[max(0, len(watched)-5):])
	}
	switch {
	case strings.HasPrefix(name, "create"):
		// A sequential node by the root's own name would be the root's sister.
		rare = rarePaths[1:privatePaths]
	case name == "setACL":
		rare = rarePaths[:privatePaths]
	case name == "setData":
		rare = rarePaths[:privatePaths+1]
	}
	switch n := rapid.IntRange(1, 40).Draw(g.T, "kind of path"); {
	case n == 40:
		return pick(g.T, "bad path", badPaths)
	case n > 37:
		return pick(g.T, "rare path", rare)
	case n > 33:
		return pick(g.T, "path", usualPaths)
	case strings.HasPrefix(name, "create"):
		parents := g.nodes(func(p string, n guessed) bool { return n.owner == nobody && strings.Count(p, "/") < 3 })
		return pick(g.T, "parent", parents) + "/" + pick(g.T, "child", childNames)
	default:
		return pick(g.T, "node", g.targets(name))
	}
}

// targets are the nodes that there probably are. The root itself is seldom what an operation is about.
func (g *generator) targets(name string) []string {
	out := g.nodes(func(p string, n guessed) bool {
		return p != "~" && (name != "delete" && name != "deleteContainer" || n.children == 0)
	})
	if len(out) == 0 || g.seldom("root", 10) {
		out = append(out, "~")
	}
	return out
}
