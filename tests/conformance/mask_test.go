package conformance

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mask turns the values of one server into values that every server must give.
type mask struct {
	scope
	top      stat  // the node "/" when the sequence began
	nodes    int32 // how many nodes there were
	sessions map[int64]int
	started  time.Time
}

// zxid counts from the creation of the root. Older changes were made by others, and are not the
// same on both servers.
func (m *mask) zxid(z int64) string {
	switch {
	case z <= 0:
		return strconv.FormatInt(z, 10)
	case z < m.base:
		return "old"
	default:
		return fmt.Sprintf("+%d", z-m.base)
	}
}

func (m *mask) owner(id int64) string {
	if index, ok := m.sessions[id]; ok {
		return fmt.Sprintf("session%d", index)
	}
	return fmt.Sprintf("%#x", uint64(id))
}

// clock is generous: it is there to find seconds in place of milliseconds.
const clock = 24 * time.Hour

// times cannot be compared, but what they have to do with each other can.
func (m *mask) times(s stat) string {
	if s.ctime == 0 && s.mtime == 0 {
		return "none"
	}
	for _, t := range []int64{s.ctime, s.mtime} {
		if d := time.Since(time.UnixMilli(t)); t != 0 && (d > clock || d < -clock) {
			return "wrong"
		}
	}
	switch {
	case s.mzxid == s.czxid && s.mtime != s.ctime:
		return "changed without a change"
	case s.ctime == 0:
		return "changed now"
	default:
		return "now"
	}
}

// isOnTop reports whether it is about "/", which a real server knows by its empty name too.
func (o operation) isOnTop() bool {
	path, _ := o.get("path")
	return path == "/" || path == `""`
}

func (m *mask) stat(top bool, s stat) []shown {
	if top {
		s.version -= m.top.version
		s.cversion -= m.top.cversion
		s.aversion -= m.top.aversion
		s.numChildren -= m.top.numChildren
	}
	return []shown{
		{"czxid", m.zxid(s.czxid)}, {"mzxid", m.zxid(s.mzxid)}, {"pzxid", m.zxid(s.pzxid)},
		{"version", fmt.Sprint(s.version)}, {"cversion", fmt.Sprint(s.cversion)}, {"aversion", fmt.Sprint(s.aversion)},
		{"owner", m.owner(s.owner)},
		{"length", fmt.Sprint(s.dataLength)}, {"children", fmt.Sprint(s.numChildren)},
		{"times", m.times(s)},
	}
}

const longData = 64

func showData(t text) string {
	if len(t.value) <= longData {
		return t.String()
	}
	return fmt.Sprintf("%d bytes %x", len(t.value), sha256.Sum256([]byte(t.value)))
}

// otherRoot is the name of a sequence's root, ours or one that could not be removed.
var otherRoot = regexp.MustCompile(`^conformance-\d+$`)

// children are sorted: a real server gives them in the order of its hash table.
func (m *mask) children(l list[text]) string {
	var out []text
	for _, child := range l.items {
		if "/"+child.value == m.root {
			child.value = "~"
		} else if otherRoot.MatchString(child.value) {
			continue
		}
		out = append(out, child)
	}
	return m.sorted(list[text]{items: out, null: l.null})
}

func (m *mask) paths(l list[text]) string {
	for i := range l.items {
		l.items[i] = m.shorten(l.items[i])
	}
	return m.sorted(l)
}

func (m *mask) sorted(l list[text]) string {
	slices.SortFunc(l.items, func(a, b text) int { return strings.Compare(a.value, b.value) })
	return l.format(text.String)
}

// acl keeps the order, but for neighbours of the scheme digest with the same permissions:
// these may be what the server made of the scheme auth, and then they come in
// the order of a hash table.
func (m *mask) acl(l list[aclEntry]) string {
	same := func(a, b aclEntry) bool {
		return a.perms == b.perms && a.scheme == b.scheme && a.scheme.value == "digest"
	}
	for i := 0; i < len(l.items); {
		j := i + 1
		for j < len(l.items) && same(l.items[i], l.items[j]) {
			j++
		}
		slices.SortFunc(l.items[i:j], func(a, b aclEntry) int { return strings.Compare(a.id.value, b.id.value) })
		i = j
	}
	return l.format(aclEntry.String)
}
