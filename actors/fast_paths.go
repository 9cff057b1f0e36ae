package actors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// FastPath names a way in which a session saves requests or time. Each can be switched off: what is
// promised does not change, and it is known then whether it has to do with something that was seen.
type FastPath uint16

// The fast paths.
const (
	// OneRoundTrip makes a node and reads how long the queue is in one transaction: see WithoutParentWrites.
	OneRoundTrip FastPath = 1 << iota
	// GroupCommit has creates and deletes share transactions when there are many, and local runs form where a session
	// queues with others.
	GroupCommit
	// HandOver grants what is given back to the next of the same session before the node is gone.
	HandOver
	// LookAhead has a waiter whose predecessor belongs to another session, and waits itself, find out as soon as
	// that one holds. It costs a read more, and then nothing but an event is needed for the grant.
	LookAhead
)

var fastPathNames = []string{"one-round-trip", "group-commit", "hand-over", "look-ahead"}

// FastPaths lists them all.
func FastPaths() (all []FastPath) {
	for i := range fastPathNames {
		all = append(all, 1<<i)
	}
	return all
}

// String gives the name, or names: "group-commit,hand-over".
func (f FastPath) String() string {
	var names []string
	for i, name := range fastPathNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// ParseFastPaths reads names as String writes them. The error names the one that is none.
func ParseFastPaths(names string) (f FastPath, err error) {
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }) {
		i := slices.Index(fastPathNames, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no fast path; there are %s: %w", name, strings.Join(fastPathNames, ", "), zkconn.ErrBadConfig)
		}
		f |= 1 << i
	}
	return f, nil
}

// switches are those that the coordinator has.
func (f FastPath) switches() (off coordinator.Switches) {
	for path, to := range map[FastPath]coordinator.Switches{GroupCommit: coordinator.GroupCommit, HandOver: coordinator.HandOver,
		LookAhead: coordinator.LookAhead} {
		if f&path != 0 {
			off |= to
		}
	}
	return off
}
