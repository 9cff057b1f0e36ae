package queue

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// Style has the parts of a contender node's name, besides its GUID.
type Style struct {
	Naming messages.Naming
	Mode   messages.Mode
	// Name tells the queues of one lock path apart.
	Name   string
	Weight int
}

// Prefix gives the beginning of a contender node's name, GUID included; the server adds the
// sequence number. Weights and names of queues, which other libraries lack, have one form under
// every naming.
func (s Style) Prefix(guid string) string {
	switch {
	case s.Name != "":
		return "_c_" + guid + "-" + s.Name + s.named()
	case s.Mode == messages.Semaphore:
		return fmt.Sprintf("_c_%s-permits-%d-", guid, s.Weight)
	case s.Naming == messages.KazooNaming && s.Mode == messages.Read:
		return guid + "__rlock__"
	case s.Naming == messages.KazooNaming:
		return guid + "__lock__"
	}
	start := "_c_"
	words := [...]string{messages.Exclusive: "-lock-", messages.Read: "-__READ__", messages.Write: "-__WRIT__"}
	if s.Naming == messages.RecipeNaming {
		start = ""
		words = [...]string{messages.Exclusive: "-lock-", messages.Read: "-read-", messages.Write: "-write-"}
	}
	if int(s.Mode) >= len(words) {
		return start + guid + words[messages.Exclusive] // modes that have no queue
	}
	return start + guid + words[s.Mode]
}

// Reclaimable begins the GUID of a node that the next process may replace at the same number
// (messages.Acquire.Reclaim). When it goes, the waiter behind it lists the queue.
const Reclaimable = "reclaim-"

func mayBeReplaced(child string) bool {
	return strings.HasPrefix(strings.TrimPrefix(child, "_c_"), Reclaimable)
}

func (s Style) named() string {
	switch s.Mode {
	case messages.Read:
		return "_read_"
	case messages.Write:
		return "_write_"
	case messages.Semaphore:
		return fmt.Sprintf("_permits_%d_", s.Weight)
	default:
		return "_lock_"
	}
}

// Entry is the name of a contender node, parsed.
type Entry struct {
	Child    string
	Sequence int32
	Style
}

type marker struct {
	text  string
	style Style
	named bool // the name of a queue comes before it
	heavy bool // a weight comes between it and the sequence number
}

// markers are those of Curator and go-zookeeper; Curator's read/write lock; kazoo; ZooKeeper's
// recipes; and our own.
var markers = []marker{
	{text: "_lock_", named: true},
	{text: "_read_", style: Style{Mode: messages.Read}, named: true},
	{text: "_write_", style: Style{Mode: messages.Write}, named: true},
	{text: "_permits_", style: Style{Mode: messages.Semaphore}, named: true, heavy: true},
	{text: "lock-"},
	{text: "__READ__", style: Style{Mode: messages.Read}},
	{text: "__WRIT__", style: Style{Mode: messages.Write}},
	{text: "__lock__", style: Style{Naming: messages.KazooNaming}},
	{text: "__rlock__", style: Style{Naming: messages.KazooNaming, Mode: messages.Read}},
	{text: "read-", style: Style{Naming: messages.RecipeNaming, Mode: messages.Read}},
	{text: "write-", style: Style{Naming: messages.RecipeNaming, Mode: messages.Write}},
	{text: "permits-", style: Style{Mode: messages.Semaphore}, heavy: true},
}

// Parse reads the name of a child of a lock path. It is false for a name that is no contender's, or
// has a weight beyond [MaxPermits].
func Parse(child string) (Entry, bool) {
	at := len(child)
	for at > 0 && '0' <= child[at-1] && child[at-1] <= '9' {
		at--
	}
	for i := range markers {
		if e, ok := markers[i].parse(child, child[:at]); ok {
			return e, true
		}
	}
	return Entry{}, false
}

func (m *marker) parse(child, before string) (Entry, bool) {
	at := m.find(child, before)
	if at < 0 || m.text[0] != '_' && at > 0 && isLetter(child[at-1]) {
		return Entry{}, false // "padlock-" is nobody's
	}
	e := Entry{Child: child, Style: m.style}
	rest := child[at+len(m.text):]
	if m.heavy {
		weight, digits, ok := strings.Cut(rest, m.text[len(m.text)-1:])
		var err error
		if e.Weight, err = strconv.Atoi(weight); !ok || err != nil || CheckPermits(e.Weight) != "" {
			return Entry{}, false
		}
		rest = digits
	}
	if m.named {
		if e.Name = withoutGUID(child[:at]); e.Name == "" {
			return Entry{}, false
		}
	}
	if !numbered(rest) {
		return Entry{}, false
	}
	seq, err := strconv.ParseInt(rest, 10, 32)
	e.Sequence = int32(seq)
	return e, err == nil
}

// numbered reports whether a number has the length of the server's %010d: ten characters, sign
// included, or a sign and ten digits. A longer one was made by hand: no session's end deletes it,
// and a queue would wait for ever.
func numbered(digits string) bool {
	switch len(digits) {
	case 10:
		return digits[0] != '+'
	case 11:
		return digits[0] == '-' && digits[1] != '0'
	}
	return false
}

// find gives where the marker begins, or -1. Every contender reads the whole queue, so it looks
// only right before the digits or their sign.
func (m *marker) find(child, before string) int {
	if m.heavy {
		return strings.LastIndex(child, m.text)
	}
	if strings.HasSuffix(before, m.text) {
		return len(before) - len(m.text)
	}
	if before, negative := strings.CutSuffix(before, "-"); negative && strings.HasSuffix(before, m.text) {
		return len(before) - len(m.text)
	}
	return -1
}

// withoutGUID takes _c_<guid>- off the name of a queue. Others may have none.
func withoutGUID(name string) string {
	const guid = len("00000000-0000-0000-0000-000000000000-")
	rest, protected := strings.CutPrefix(name, "_c_")
	rest = strings.TrimPrefix(rest, Reclaimable)
	if protected && len(rest) >= guid && rest[guid-1] == '-' {
		return rest[guid:]
	}
	return name
}

// Sequence gives the sequence number in the name of a contender node; false for any other name.
func Sequence(name string) (int32, bool) {
	e, ok := Parse(name)
	return e.Sequence, ok
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// mayDowngrade reports whether the node's holder may take the read lock at its own number: then the
// end of the node does not make the next contender first.
func (e Entry) mayDowngrade() bool {
	return e.Mode == messages.Write || e.Naming == messages.KazooNaming && e.Mode == messages.Exclusive
}

// lastSequence is the first sequence number that is refused. At 2147483647 a 3.8.0 server sticks or
// hands out duplicates, and then two clients hold at once (measured; kazoo 730).
const lastSequence = 1<<31 - 1<<20

// Exhausted reports whether a sequence number is too near the end of the counter, or beyond, to
// grant by.
func Exhausted(seq int32) bool { return seq >= lastSequence || seq < 0 }

// IsBelow reports whether a path is a root, or below it. "/" is above all paths.
func IsBelow(root, path string) bool {
	rest, begins := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
	return begins && (rest == "" || rest[0] == '/')
}
