package actorstest

import (
	"fmt"

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

// Whatever is any number of states, or none.
func Whatever() Part { return Part{any: true} }

// InOrder makes a pattern of states that come one right after the other.
func InOrder(states ...messages.State) []Part {
	parts := make([]Part, len(states))
	for i, s := range states {
		parts[i] = Then(s)
	}
	return parts
}

// Match checks that states fit a pattern from its beginning to its end. The error names the states
// and the pattern.
func Match(states []messages.State, pattern ...Part) error {
	if fits(states, pattern) {
		return nil
	}
	return fmt.Errorf("states %s do not fit the pattern %v", Story(states), pattern)
}

func fits(states []messages.State, pattern []Part) bool {
	if len(pattern) == 0 {
		return len(states) == 0
	}
	head, rest := pattern[0], pattern[1:]
	if (head.any || head.optional) && fits(states, rest) {
		return true
	}
	if len(states) == 0 || !head.any && states[0] != head.state {
		return false
	}
	if head.any {
		return fits(states[1:], pattern)
	}
	return fits(states[1:], rest)
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
