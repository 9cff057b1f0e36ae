package walk

import (
	"fmt"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// world is a state that is being moved on.
type world struct {
	state
	plan *Plan
	// late: the orders of the step that is under way stay in the mailbox.
	late bool
	// violation is the first that the move has led to.
	violation *Violation
	// telling: what happens is written down.
	telling bool
	// fired collects the rows of the machine's table that were reached; nil for none.
	fired map[*machine.Row]bool
	lines []string
}

func newWorld(plan *Plan) *world {
	w := &world{plan: plan}
	w.left = plan.Bounds
	for i := range plan.Sessions {
		w.contenders[i].Try, w.contenders[i].guid = plan.Try[i], uint8(i)
	}
	for s := range w.sessions {
		w.sessions[s] = session{epoch: 1, up: !plan.Down, linked: !plan.Down, established: !plan.Down, alive: !plan.Down}
	}
	for i := range plan.Sessions {
		if !plan.Arrive[i] {
			w.make(move{kind: begins, a: uint8(i)})
		}
	}
	w.canonical()
	for _, told := range plan.After {
		w.follow(told)
	}
	return w
}

// follow makes the move that is told like this.
func (w *world) follow(told string) {
	var all []string
	for _, m := range w.moves(nil) {
		if text := w.describe(m); text != told {
			all = append(all, text)
			continue
		}
		w.make(m)
		w.canonical()
		return
	}
	panic(fmt.Sprintf("walk: %q cannot happen, but:\n%s", told, strings.Join(all, "\n")))
}

func (w *world) mistake(m Mistake) bool { return w.plan.Mistake == m }

// sessionOf gives the session of a contender.
func (w *world) sessionOf(i int) *session { return &w.sessions[w.plan.Sessions[i]] }

// members lists the contenders of a session.
func (w *world) members(s int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i, of := range w.plan.Sessions {
			if of == s && !yield(i) {
				return
			}
		}
	}
}

// violate notes that an invariant does not hold. The first one counts: others follow from it.
func (w *world) violate(invariant Invariant, format string, args ...any) {
	if w.violation == nil {
		w.violation = &Violation{Invariant: invariant, What: fmt.Sprintf(format, args...)}
	}
}
