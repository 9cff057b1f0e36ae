package messages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Detection says that a request looks for deadlocks while it waits; the zero value does not.
type Detection struct {
	// Root is the path below which to look; the request's own lock path is there. "/" is all that
	// the client can see.
	Root string
	// Every is the time between looks; the first comes so long after the wait began. A look lists
	// everything below Root and reads the queues that have waiters. A seeming deadlock is confirmed
	// 250 ms later, before the request gives up.
	Every time.Duration
}

// Member is one participant of a deadlock.
type Member struct {
	// Who names the caller that is blocked: see Contender.Who. It is "" for a member that only
	// waits in a queue between the others.
	Who string
	// Keeps is the node with which it keeps out the member before it: a holder's, or an earlier
	// waiter's.
	Keeps Contender
	// Waits is the node with which it waits for the next member.
	Waits Contender
}

// String says it in words: who, with the label of the request that waits, and between which locks.
func (m Member) String() string {
	who := cmp.Or(shown(m.Who), fmt.Sprintf("somebody (session 0x%x)", m.Waits.Session))
	if m.Waits.Label != "" {
		who += " “" + shown(m.Waits.Label) + "”"
	}
	keeps, waits := shown(m.Keeps.Path), shown(m.Waits.Path)
	switch {
	case m.Keeps.At() == m.Waits.At():
		return fmt.Sprintf("%s waits for %s and keeps others waiting", who, waits)
	case m.Keeps.Holds:
		return fmt.Sprintf("%s holds %s and waits for %s", who, keeps, waits)
	}
	return fmt.Sprintf("%s is before others in the queue of %s and waits for %s", who, keeps, waits)
}

// shown is zkconn.Shown, which this package does not import: others have written these texts.
func shown(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// Deadlock is a circle of contenders: each waits for the next, and the last for the first. The
// first has waited longest. It ends only when one gives up.
type Deadlock struct {
	Members []Member
}

// String tells the circle: "A “audit” holds /x and waits for /y; B holds /y and waits for /x".
func (d Deadlock) String() string {
	words := make([]string, len(d.Members))
	for i, m := range d.Members {
		words[i] = m.String()
	}
	return strings.Join(words, "; ")
}

// Youngest gives the one that gives up: the youngest contender that looks for deadlocks. It is
// false if none looks.
func (d Deadlock) Youngest() (Contender, bool) {
	var youngest Contender
	found := false
	for _, m := range d.Members {
		if m.Waits.Detects && (!found || Older(youngest, m.Waits) < 0) {
			youngest, found = m.Waits, true
		}
	}
	return youngest, found
}

// Older compares contenders by age: negative where a is older. Contenders of one transaction go by
// place in the queue, or by path. Those without nodes are younger than all others, and go by Since.
func Older(a, b Contender) int {
	switch {
	case !a.HasNode() && !b.HasNode():
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	case !a.HasNode():
		return 1
	case !b.HasNode():
		return -1
	}
	return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.At(), b.At()))
}

// Turn gives the same circle, beginning with the member that has waited longest.
func (d Deadlock) Turn() Deadlock {
	first := 0
	for i, m := range d.Members {
		if Older(m.Waits, d.Members[first].Waits) < 0 {
			first = i
		}
	}
	return Deadlock{Members: slices.Concat(d.Members[first:], d.Members[:first])}
}

// Deadlocked: the request is the youngest in a deadlock, and gives up. Cancelled follows, with
// ReasonDeadlock, when its node is gone.
type Deadlocked struct {
	Grant
	Deadlock Deadlock
}
