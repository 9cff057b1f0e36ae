package walk

import (
	"fmt"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// world is a state that is being moved on.
type world struct {
	state
	plan  *Plan
	specs [maxActors]*coordinator.Spec
	// cloned tells whose coordinators are this state's own already.
	cloned [maxSessions]bool
	// violation is the first that the move has led to.
	violation *Violation
	// beating: heartbeats are answered.
	beating bool
	// telling: what happens is written down.
	telling bool
	// fired collects the rows of the machine's table that were reached; nil for none.
	fired   map[*machine.Row]bool
	lines   []string
	scratch []byte
}

// empty makes a world without a state.
func empty(plan *Plan) *world {
	w := &world{plan: plan}
	for i := range plan.Sessions {
		w.specs[i] = plan.spec(i)
	}
	return w
}

func newWorld(plan *Plan) *world {
	w := empty(plan)
	w.left = plan.Bounds
	for s := range w.sessions {
		w.sessions[s] = session{decides: coordinator.New(plan.Without, sessionTimeout), run: 1}
		if !plan.Down {
			w.sessions[s].established, w.sessions[s].alive, w.sessions[s].linked = true, true, true
			w.sessions[s].up = true
			w.tell(s, coordinator.Connected{Timeout: sessionTimeout})
		}
	}
	for i := range plan.Sessions {
		w.actors[i].m = machine.New(plan.Try[i])
		if !plan.Arrive[i] {
			w.make(move{kind: begins, a: uint8(i)})
		}
	}
	for _, told := range plan.After {
		w.follow(told)
	}
	return w
}

// follow makes the move that is told like this.
func (w *world) follow(told string) {
	var all []string
	for _, m := range w.moves(nil) {
		text := w.describe(m)
		if text == told {
			w.make(m)
			return
		}
		all = append(all, text)
	}
	panic(fmt.Sprintf("walk: %q cannot happen, but:\n%s", told, strings.Join(all, "\n")))
}

// sessionOf gives the session of a request.
func (w *world) sessionOf(i int) *session { return &w.sessions[w.plan.Sessions[i]] }

// violate notes that an invariant does not hold. The first one counts: others follow from it.
func (w *world) violate(invariant Invariant, format string, args ...any) {
	if w.violation == nil {
		w.violation = &Violation{Invariant: invariant, What: fmt.Sprintf(format, args...)}
	}
}

// note writes down what happens, when that is told.
func (w *world) note(format string, args ...any) {
	if w.telling {
		w.lines = append(w.lines, fmt.Sprintf(format, args...))
	}
}

func actorName(i int) string   { return fmt.Sprintf("contender %d", i+1) }
func sessionName(s int) string { return string(rune('A' + s)) }
