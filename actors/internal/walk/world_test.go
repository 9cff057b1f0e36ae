package walk

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// Invariant names an invariant, with the number by which violations name it.
type Invariant string

// Violation is an invariant that does not hold, and the shortest story that leads there.
type Violation struct {
	Invariant Invariant
	What      string
	Story     []string
}

// Error tells the story.
func (v *Violation) Error() string {
	return fmt.Sprintf("invariant %s\n%s:\n%s", v.Invariant, v.What, strings.Join(v.Story, "\n"))
}

// world is a state that is being moved on.
type world struct {
	state
	plan  *Plan
	specs [maxActors]*coordinator.Spec
	// named has the specs of requests that name a writer's node, by that.
	named map[string]*coordinator.Spec
	// owned tells which coordinators are this state's own; the others are shared with the state that it comes from.
	owned [maxSessions]bool
	// told tells which turns are this state's own, likewise. coming is the call that begins.
	told   [maxSessions]bool
	coming int
	// short: turns ask for more lock actors than there are.
	short bool
	// base is the plan. Where it has calls, plan is suited: base, with the requests as turns have asked for them. wants and asked
	// are what calls and these requests want.
	base   *Plan
	suited Plan
	wants  []*turns.Want
	asked  map[askedSpec]*coordinator.Spec
	// stepped tells of which sessions a machine has taken an event.
	stepped [maxSessions]bool
	// mistake is a mistake that the walk must find.
	mistake Mistake
	// violation is the first that the move has led to.
	violation *Violation
	// beating: heartbeats are answered.
	beating bool
	// telling: what happens is written to lines.
	telling bool
	lines   []string
	printed []byte // last
	// fired collects the rows of the machine's table that were reached.
	fired map[*machine.Row]bool
}

// load begins a move from a state.
func (w *world) load(from *state) {
	w.state = *from
	w.owned, w.stepped, w.told = [maxSessions]bool{}, [maxSessions]bool{}, [maxSessions]bool{}
	if w.base != nil && w.base.Calls != nil {
		w.suited = *w.base
		for i := range w.base.Sessions {
			w.suit(i)
		}
	}
}

// askedSpec is what makes the spec of a request that turns have asked for.
type askedSpec struct {
	actor, call uint8
	beside      string
	try, shared bool
}

// suit has a request of the plan be what the call wants for which it is asked.
func (w *world) suit(i int) {
	ask := &w.actors[i].asked
	if ask.call == 0 {
		return
	}
	c := &w.plan.Calls[ask.call-1]
	p := &w.suited
	p.Modes[i], p.Paths[i], p.Names[i], p.Try[i], p.TellMore[i] = c.Mode, c.Path, c.Name, ask.try, ask.shared
	p.Beside[i] = int(ask.beside)
	key := askedSpec{uint8(i), ask.call, w.actors[i].beside, ask.try, ask.shared}
	sp := w.asked[key]
	if sp == nil {
		want := &messages.Acquire{Path: lockPaths[c.Path], Mode: c.Mode, Name: c.Name, Try: ask.try, TellMore: ask.shared,
			Beside: w.actors[i].beside}
		sp = coordinator.NewSpec(want, idOf(i), by(i), time.Time{})
		w.asked[key] = sp
	}
	w.specs[i] = sp
}

// sessionOf gives the session of a request.
func (w *world) sessionOf(i int) *session { return &w.sessions[w.plan.Sessions[i]] }

// specOf gives the spec of a request.
func (w *world) specOf(i int) *coordinator.Spec {
	beside := w.actors[i].beside
	if beside == "" || w.plan.Calls != nil {
		return w.specs[i]
	}
	if w.named[beside] == nil {
		w.named[beside] = w.plan.spec(i, beside)
	}
	return w.named[beside]
}

// epoch is the epoch of a session.
func (w *world) epoch(s int) uint64 { return w.sessions[s].decides.Epoch() }

// unbroken reports whether the lease of a request's grant has been valid ever since.
func (w *world) unbroken(i int) bool {
	a, s := &w.actors[i], w.sessionOf(i)
	return s.lease && s.term == a.term && a.held == w.epoch(w.plan.Sessions[i])
}

// violate notes that an invariant does not hold. The first one counts: others follow from it.
func (w *world) violate(invariant Invariant, format string, args ...any) {
	if w.violation == nil {
		w.violation = &Violation{Invariant: invariant, What: fmt.Sprintf(format, args...)}
	}
}

// note writes down what happens. Call it only while w.telling.
func (w *world) note(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func actorName(i int) string   { return fmt.Sprintf("contender %d", i+1) }
func sessionName(s int) string { return "session " + string(rune('A'+s)) }

// Mistake is a mistake at the boundary of the code that is walked. The zero value is no mistake.
type Mistake struct {
	// Outputs changes what a coordinator decides, Inputs what it is told, At what it is told of the lease.
	Outputs func(w *world, s int, out coordinator.Output) []coordinator.Output
	Inputs  func(w *world, s int, in coordinator.Input) coordinator.Input
	At      func(coordinator.At) coordinator.At
	// EndsEarly: the servers may end a session before its lease is over. Unsynced: a Look looks for nodes on a server
	// that may lag behind. Outlasts: the lease goes on when the chain of evidence breaks. Revives: a transaction renews it
	// after that.
	EndsEarly, Unsynced, Outlasts, Revives bool
	// TurnsHear changes what turns are told, TurnsDecide what they decide with one input.
	TurnsHear   func(w *world, s int, in told) []told
	TurnsDecide func(w *world, s int, all []turns.Output) []turns.Output
}

// input gives the input that a coordinator is told instead of in; nil for nothing.
func (m *Mistake) input(w *world, s int, in coordinator.Input) coordinator.Input {
	if m.Inputs != nil {
		return m.Inputs(w, s, in)
	}
	return in
}

// at gives the readings that a coordinator is told: time and lease.
func (m *Mistake) at(at coordinator.At) coordinator.At {
	if m.At != nil {
		return m.At(at)
	}
	return at
}
