package actorstest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// Part is one part of a pattern of states.
type Part struct {
	state    messages.State
	optional bool
	any      bool
}

// Then is one state that must come next.
func Then(s messages.State) Part { return Part{state: s} }

// Maybe is one state that may come next, once.
func Maybe(s messages.State) Part { return Part{state: s, optional: true} }

// Whatever matches any number of states, also none.
func Whatever() Part { return Part{any: true} }

// InOrder makes a pattern of states that come one right after the other.
func InOrder(states ...messages.State) []Part {
	parts := make([]Part, len(states))
	for i, s := range states {
		parts[i] = Then(s)
	}
	return parts
}

// Match checks that states fit a pattern from its beginning to its end. The error says where they
// part: the last few states that fit, which one came next, and what the pattern wants there.
func Match(states []messages.State, pattern ...Part) error {
	at := reach(pattern, map[int]bool{0: true})
	for i, s := range states {
		next := after(pattern, at, s)
		if len(next) == 0 {
			return fmt.Errorf("%s %v, want %s", fitted(states[:i]), s, wanted(pattern, at))
		}
		at = next
	}
	if !at[len(pattern)] {
		return fmt.Errorf("%s nothing more, want %s", fitted(states), wanted(pattern, at))
	}
	return nil
}

// reach adds the places in a pattern that are reached from others without a state. A place is the number of parts
// before it.
func reach(pattern []Part, at map[int]bool) map[int]bool {
	for i, p := range pattern {
		if at[i] && (p.any || p.optional) {
			at[i+1] = true
		}
	}
	return at
}

// after are the places at which a pattern may stand after one more state.
func after(pattern []Part, at map[int]bool, s messages.State) map[int]bool {
	next := make(map[int]bool)
	for i, p := range pattern {
		switch {
		case !at[i]:
		case p.any:
			next[i] = true
		case p.state == s:
			next[i+1] = true
		}
	}
	return reach(pattern, next)
}

// fitted begins an error: it names the newest of the states that fit.
func fitted(states []messages.State) string {
	const most = 3
	switch n := len(states); {
	case n == 0:
		return "first:"
	case n > most:
		return fmt.Sprintf("after %d states, … → %s:", n, Story(states[n-most:]))
	}
	return fmt.Sprintf("after %s:", Story(states))
}

// wanted names the steps of a pattern that may come next. Parts that any state fits are left out.
func wanted(pattern []Part, at map[int]bool) string {
	var all []string
	for i, p := range pattern {
		if at[i] && !p.any && !slices.Contains(all, p.state.String()) {
			all = append(all, p.state.String())
		}
	}
	if at[len(pattern)] {
		all = append(all, "the end")
	}
	return strings.Join(all, " or ")
}

// String writes a part as a pattern: "held", "held?", "…".
func (p Part) String() string {
	switch {
	case p.any:
		return "…"
	case p.optional:
		return p.state.String() + "?"
	default:
		return p.state.String()
	}
}
