package actors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// FastPath names a way in which a session saves requests or time. Switch one off to find out
// whether it has to do with a problem: what is promised does not change.
type FastPath uint16

// The fast paths.
const (
	// GroupCommit lets creates and deletes share transactions when there are many, and lets local runs
	// form where a session queues with others.
	GroupCommit FastPath = 1 << iota
	// HandOver grants a lock to the next request of the same session before the node of the holder
	// before is deleted.
	HandOver
	// LookAhead is for a waiter whose predecessor belongs to another session and waits itself. The
	// waiter finds out as soon as its predecessor holds. It costs one more read; the grant then needs
	// only an event.
	LookAhead
)

var fastPathNames = []string{"group-commit", "hand-over", "look-ahead"}

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
