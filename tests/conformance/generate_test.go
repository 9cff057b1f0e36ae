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
	g := &generator{T: t, guess: guess{"~": {owner: nobody}}, watched: map[int][]string{}}
	out := make([]operation, pick(t, "length", []int{200, 150, 100, 250}))
	for i := range out {
		out[i] = g.operation()
		g.follow(out[i].session, out[i])
	}
	return out
})

// generator draws operations.
type generator struct {
	*rapid.T
	guess
	session int              // whose turn it is
	watched map[int][]string // the paths of whose events it may be told
}

func pick[T any](t *rapid.T, label string, from []T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// seldom is true once in n times.
func (g *generator) seldom(label string, n int) bool {
	return rapid.IntRange(1, n).Draw(g.T, label) == n
}

func (g *generator) operation() operation {
	name := pick(g.T, "name", names)
	g.session = pick(g.T, "session", sessions)
	switch session := g.session; name {
	case "multi":
		return withoutBigData(g.parts(name, multiNames, 0, 5)).on(session)
	case "multiRead":
		return g.parts(name, multiReadNames, 0, 4).on(session)
	case burst:
		return g.burst().on(session)
	default:
		return g.renumber(g.request(name)).on(session)
	}
}

func (g *generator) parts(name string, from []string, least, most int) operation {
	o := operation{name: name}
	for range rapid.IntRange(least, most).Draw(g.T, "parts") {
		switch part := pick(g.T, "part", from); part {
		case "multi":
			o.parts = append(o.parts, g.parts(part, multiNames, 0, 3))
		case "multiRead":
			o.parts = append(o.parts, g.parts(part, multiReadNames, 0, 3))
		default:
			o.parts = append(o.parts, g.request(part))
		}
	}
	if name == "multi" && g.seldom("odd part", 20) {
		o.parts = append(o.parts, g.request(pick(g.T, "part", oddParts)))
	}
	return o
}

func (g *generator) burst() operation {
	o := withoutBigData(g.parts(burst, burstNames, 2, 8))
	withoutEphemeralContainers(o.parts)
	for i, part := range o.parts {
		if part.name == "multi" {
			withoutEphemeralContainers(part.parts)
			o.parts[i] = withoutMarshallingErrors(part)
		}
	}
	if g.seldom("closing", 30) {
		o.parts = append(o.parts, operation{name: "close"}, g.request(pick(g.T, "after", afterClose)))
	}
	return o
}

// withoutEphemeralContainers keeps out of a burst what a real server takes for ephemeral nodes until it has been carried
// out, and for containers from then on: what is pipelined behind finds the one or the other.
func withoutEphemeralContainers(parts []operation) {
	for i, part := range parts {
		if flags, _ := part.get("flags"); part.name == "createContainer" && (flags == "1" || flags == "3") {
			parts[i] = part.with("flags", "4")
		}
	}
}

// withoutMarshallingErrors keeps out of a multi what a real server does not foresee (null in an access list or for a
// path, flags of a node with a time to live). It then answers MarshallingError and does not take back the changes
// that the parts before have announced, until that answer has been committed: what is pipelined behind it counts
// them, or not, as the threads happen to run.
func withoutMarshallingErrors(multi operation) operation {
	for i, part := range multi.parts {
		if acl, _ := part.get("acl"); strings.Contains(acl, "null") {
			part = part.with("acl", openACL)
		}
		if flags := part.number("flags", 0); flags > 4 || flags < 0 {
			part = part.with("flags", "0")
		}
		if path, _ := part.get("path"); path == "null" {
			part = part.with("path", "~")
		}
		multi.parts[i] = part
	}
	return multi
}

// withoutBigData keeps frames that are too long out of a burst: the connection is reset, and the answers
// to the requests before may be lost. It keeps long ones out of multis, too: a real server that cannot
// read one spends seconds on describing it to its log.
func withoutBigData(o operation) operation {
	if data, _ := o.get("data"); slices.Contains(bigDatas, data) {
		o = o.with("data", "x*300")
	}
	for i := range o.parts {
		o.parts[i] = withoutBigData(o.parts[i])
	}
	return o
}

func (g *generator) request(name string) operation {
	o := operation{name: name}
	for _, f := range layouts[name].request {
		if value, ok := g.field(name, f); ok && value != f.otherwise {
			o = o.with(f.key, value)
		}
	}
	switch name {
	case "unknown":
		o = o.with("code", pick(g.T, "code", codes))
	case "frame":
		length := pick(g.T, "length", lengths)
		o = o.with("length", length)
		if len(length) == 1 {
			o = o.with("send", length)
		}
	case "open", "reattach":
		o = g.connect(o)
	case "createTTL":
		o = withSafeTTL(o)
	}
	if o.isOnTop() && o.number("version", -1) >= 0 {
		// How often "/" has been set is not of this sequence's making.
		o = o.with("version", "-2")
	}
	g.notice(o)
	return g.spoil(o)
}

// renumber gives some requests the numbers that clients give them, or odd ones.
func (g *generator) renumber(o operation) operation {
	switch {
	case o.name == "auth" && g.seldom("xid", 2):
		return o.with(numbered, "-4")
	case strings.HasPrefix(o.name, "setWatches") && g.seldom("xid", 2):
		return o.with(numbered, "-8")
	case layouts[o.name].code > 0 && o.name != "ping" && g.seldom("xid", 50):
		return o.with(numbered, pick(g.T, numbered, []string{"0", "-3", "2147483647", "-2147483648"}))
	default:
		return o
	}
}

// notice remembers what is watched, so that it can be asked about.
func (g *generator) notice(o operation) {
	watch, _ := o.get("watch")
	if path, ok := o.get("path"); ok && (watch == "true" || o.name == "addWatch") {
		g.watched[g.session] = append(g.watched[g.session], path)
	}
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

// spoil sometimes sends too few bytes, or too many. Requests that hang up need none of it, and a
// multi cannot be cut in its middle.
func (g *generator) spoil(o operation) operation {
	if len(layouts[o.name].request) == 0 || o.mayHangUp() || !g.seldom("spoil", 150) {
		return o
	}
	return o.with(pick(g.T, "how", spoils), pick(g.T, "bytes", []string{"1", "4", "9", "30"}))
}

func (g *generator) connect(o operation) operation {
	if g.seldom("plain", 2) {
		return o
	}
	o = o.with("timeout", pick(g.T, "timeout", timeouts)).with("readonly", pick(g.T, "readonly", readOnlys))
	if g.seldom("zxid", 3) {
		o = o.with("zxid", pick(g.T, "seen", zxids))
	}
	if o.name == "reattach" {
		o = o.with("password", pick(g.T, "password", passwords))
		if g.seldom("drop", 3) {
			o = o.with("drop", "true")
		}
		if g.seldom("id", 10) {
			o = o.with("id", "unknown")
		}
	}
	return o
}
