package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// weighted repeats every name as often as it weighs. The heavy ones come first, and every
// name once before any comes twice: rapid prefers what stands near the front.
func weighted(weights map[string]int) []string {
	heavyFirst := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(weights[b]-weights[a], strings.Compare(a, b))
	})
	var out []string
	for round := 0; round < weights[heavyFirst[0]]; round++ {
		for _, name := range heavyFirst {
			if weights[name] > round {
				out = append(out, name)
			}
		}
	}
	return out
}

// sequences are 100 to 250 operations.
var sequences = rapid.Custom(func(t *rapid.T) []operation {
	n := pick(t, "length", []int{200, 150, 100, 250})
	out := make([]operation, n)
	for i := range out {
		out[i] = drawOperation(t)
	}
	return out
})

func pick[T any](t *rapid.T, label string, from []T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// seldom is true once in n times.
func seldom(t *rapid.T, label string, n int) bool {
	return rapid.IntRange(1, n).Draw(t, label) == n
}

func drawOperation(t *rapid.T) operation {
	name := pick(t, "name", names)
	session := pick(t, "session", sessions)
	switch name {
	case "multi":
		return drawParts(t, name, multiNames, 0, 5).on(session)
	case "multiRead":
		return drawParts(t, name, multiReadNames, 0, 4).on(session)
	case burst:
		return drawBurst(t).on(session)
	default:
		return drawRequest(t, name).on(session)
	}
}

func drawParts(t *rapid.T, name string, from []string, least, most int) operation {
	o := operation{name: name}
	for range rapid.IntRange(least, most).Draw(t, "parts") {
		part := pick(t, "part", from)
		if part == "multi" || part == "multiRead" {
			of := multiNames
			if part == "multiRead" {
				of = multiReadNames
			}
			o.parts = append(o.parts, drawParts(t, part, of, 0, 3))
			continue
		}
		o.parts = append(o.parts, drawRequest(t, part))
	}
	return o
}

func drawBurst(t *rapid.T) operation {
	o := withoutBigData(drawParts(t, burst, burstNames, 2, 8))
	if seldom(t, "closing", 30) {
		o.parts = append(o.parts, operation{name: "close"}, drawRequest(t, pick(t, "after", afterClose)))
	}
	return o
}

// withoutBigData keeps frames that are too long out of a burst: the connection is reset, and the answers
// to the requests before may be lost.
func withoutBigData(o operation) operation {
	if data, _ := o.get("data"); slices.Contains(bigDatas, data) {
		o = o.with("data", "x*5000")
	}
	for i := range o.parts {
		o.parts[i] = withoutBigData(o.parts[i])
	}
	return o
}

func drawRequest(t *rapid.T, name string) operation {
	o := operation{name: name}
	for _, f := range layouts[name].request {
		if value, ok := drawField(t, name, f); ok && value != f.otherwise {
			o = o.with(f.key, value)
		}
	}
	switch name {
	case "unknown":
		o = o.with("code", pick(t, "code", codes))
	case "frame":
		length := pick(t, "length", lengths)
		o = o.with("length", length)
		if len(length) == 1 {
			o = o.with("send", length)
		}
	case "open", "reattach":
		o = drawConnect(t, o)
	case "createTTL":
		o = withSafeTTL(o)
	}
	return spoil(t, o)
}

// spoil sometimes sends too few bytes, or too many. Requests that hang up need none of it, and a
// multi cannot be cut in its middle.
func spoil(t *rapid.T, o operation) operation {
	if len(layouts[o.name].request) == 0 || o.mayHangUp() || !seldom(t, "spoil", 150) {
		return o
	}
	return o.with(pick(t, "how", common), pick(t, "bytes", []string{"1", "4", "9", "30"}))
}

// withSafeTTL keeps out the one request that ends a real server: a node with a time to live in
// its operation but not in its flags is let through if that time is negative, and cannot be created.
func withSafeTTL(o operation) operation {
	mode, _ := o.get("flags")
	if o.number("ttl", 0) < 0 && mode != "5" && mode != "6" {
		return o.with("ttl", "100000")
	}
	return o
}

func drawConnect(t *rapid.T, o operation) operation {
	if seldom(t, "plain", 2) {
		return o
	}
	o = o.with("timeout", pick(t, "timeout", timeouts)).with("readonly", pick(t, "readonly", readOnlys))
	if seldom(t, "zxid", 3) {
		o = o.with("zxid", pick(t, "seen", zxids))
	}
	if o.name == "reattach" {
		o = o.with("password", pick(t, "password", passwords))
		if seldom(t, "drop", 3) {
			o = o.with("drop", "true")
		}
		if seldom(t, "id", 10) {
			o = o.with("id", "unknown")
		}
	}
	return o
}

// drawField draws an argument. False leaves it as the layout has it.
func drawField(t *rapid.T, name string, f field) (string, bool) {
	switch f.kind {
	case kindPath:
		return drawPath(t, name), true
	case kindPaths:
		var paths []string
		for range rapid.IntRange(0, 3).Draw(t, f.key) {
			paths = append(paths, drawPath(t, name))
		}
		return "[" + strings.Join(paths, ",") + "]", true
	case kindACL:
		if name != "setACL" && !seldom(t, "acl", 4) {
			return openACL, true
		}
		return pick(t, "acl", acls), true
	case kindBool:
		return pick(t, f.key, []string{"false", "true"}), true
	case kindZxid:
		return pick(t, f.key, zxids), true
	}
	switch f.key {
	case "data":
		if seldom(t, "big", 400) {
			return pick(t, "data", bigDatas), true
		}
		return pick(t, "data", datas), true
	case "version":
		return pick(t, f.key, versions), true
	case "flags":
		return drawFlags(t, name), true
	case "ttl":
		return pick(t, f.key, ttls), true
	case "mode":
		return pick(t, f.key, modes), true
	case "type":
		return pick(t, f.key, types), true
	case "scheme":
		return pick(t, f.key, schemes), true
	case "auth":
		return pick(t, f.key, auths), true
	}
	return "", false
}

// drawFlags draws those that fit the operation more often.
func drawFlags(t *rapid.T, name string) string {
	if !seldom(t, "any flags", 3) {
		switch name {
		case "createContainer":
			return "4"
		case "createTTL":
			return pick(t, "flags", []string{"5", "6"})
		default:
			return pick(t, "flags", []string{"0", "1", "2", "3"})
		}
	}
	return pick(t, "flags", flags)
}

// drawPath keeps writes away from what all sequences share, but for the data of "/".
func drawPath(t *rapid.T, name string) string {
	usual, rare := usualPaths, rarePaths
	switch {
	case strings.HasPrefix(name, "create"):
		usual, rare = newPaths, rarePaths[:3]
	case name == "setACL":
		rare = rarePaths[:3]
	case name == "setData":
		rare = rarePaths[:4]
	}
	switch n := rapid.IntRange(1, 40).Draw(t, "kind of path"); {
	case n == 40 && (name == "addWatch" || name == "setWatches2"):
		// A watch on null would leave the connection open when the server closes it.
		return pick(t, "bad path", badPaths[:len(badPaths)-1])
	case n == 40:
		return pick(t, "bad path", badPaths)
	case n > 35:
		return pick(t, "rare path", rare)
	default:
		return pick(t, "path", usual)
	}
}
