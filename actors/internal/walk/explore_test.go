package walk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Result counts what a walk has seen.
type Result struct {
	// States, Transitions: how many there are.
	States, Transitions int
	// Quiet: states in which nothing happens by itself. Ends: those of them in which all is over.
	Quiet, Ends int
	// Cut: it ended at Plan.Part.
	Cut bool
	// Short counts the moves that were not followed, because turns asked for more lock actors than the plan has.
	Short int
	// Fired are the rows of the machine's table that some history has reached.
	Fired map[*machine.Row]bool
}

// String is one line of figures.
func (r Result) String() string {
	text := fmt.Sprintf("%d states, %d transitions, %d quiescent, %d ends", r.States, r.Transitions, r.Quiet, r.Ends)
	if r.Short > 0 {
		text += fmt.Sprintf(", %d moves not followed", r.Short)
	}
	return text
}

// Walk explores every history of a plan. The error is a *Violation, or says that the limit was reached.
func Walk(plan Plan) (Result, error) { return WalkWith(plan, Mistake{}) }

// WalkWith is Walk where something is done wrong.
func WalkWith(plan Plan, mistake Mistake) (Result, error) {
	k := &walker{plan: &plan, mistake: mistake, numbers: map[fingerprint]uint32{}}
	k.Fired = map[*machine.Row]bool{}
	err := k.explore()
	if err == nil && !k.Cut {
		err = k.everyoneCanEnd()
	}
	return k.Result, err
}

// walker is a walk under way. It goes breadth first, so that the first story found is the shortest, while it is small.
type walker struct {
	plan    *Plan
	mistake Mistake
	// numbers gives the number of each state reached; origins, by number, from where and by which move it was reached
	// first.
	numbers map[fingerprint]uint32
	origins []origin
	// edges are the transitions that may be counted on.
	edges []edge
	// ends tells from which states there is a way to the end; in explore, which are the end.
	ends  []bool
	moves []move // of the state that is being expanded
	Result
}

type origin struct {
	from uint32
	by   move
}

type edge struct{ from, to uint32 }

// newWorld makes a world at the start of a plan.
func newWorld(plan *Plan, mistake Mistake, fired map[*machine.Row]bool) *world {
	w := &world{plan: plan, base: plan, mistake: mistake, fired: fired, named: map[string]*coordinator.Spec{}}
	for i := range plan.Sessions {
		w.specs[i] = plan.spec(i, "")
	}
	w.left = plan.Bounds
	w.beginClients()
	w.leave()
	for s := range w.sessions {
		w.sessions[s] = session{decides: coordinator.New(plan.Without, sessionTimeout, plan.bounds(), uint64(s+1)<<32), term: 1}
		if !plan.Down {
			w.sessions[s].served, w.sessions[s].link, w.sessions[s].up = alive, linked, true
			w.tell(s, coordinator.Connected{Timeout: sessionTimeout})
		}
	}
	for i := range plan.Sessions {
		w.actors[i].m = machine.New(w.specs[i].Want)
		if !plan.Arrive[i] && plan.Within[i]+plan.Beside[i] == 0 && !plan.ofCalls(i) {
			w.make(move{kind: begins, at: uint8(i)})
		}
	}
	for _, told := range plan.After {
		w.follow(told)
	}
	w.simplify()
	return w
}

// follow makes the move that is told like this. A plan that tells a move which cannot happen is a mistake in the plan.
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
	w.violate(InPlan, "%q cannot happen, but:\n%s", told, strings.Join(all, "\n"))
}

// wide bounds the states that wait to be expanded, some six kilobytes each, while a walk goes
// breadth first. When more wait it goes depth first, so that no more come: memory then bounds the
// states that are reached, and not those that wait.
const wide = 1 << 15

// waiting is a state that was reached, and is to be expanded.
type waiting struct {
	*state
	number uint32
}

func (k *walker) explore() error {
	w := newWorld(k.plan, k.mistake, k.Fired)
	if w.violation != nil {
		return w.violation
	}
	_, todo := k.reach(w, nil, origin{})
	var err error
	for expanded := 0; err == nil && len(todo) > 0; expanded++ {
		if k.plan.Part > 0 && expanded == k.plan.Part {
			k.Cut = true
			return nil
		}
		next, last := todo[0], len(todo)-1
		if len(todo) > wide {
			next, todo[last] = todo[last], waiting{}
			todo = todo[:last]
		} else {
			todo[0] = waiting{}
			todo = todo[1:]
		}
		todo, err = k.expand(w, next, todo)
	}
	return err
}

// expand makes every move of a state. It adds states that were not reached before to the waiting
// ones.
func (k *walker) expand(w *world, from waiting, todo []waiting) (_ []waiting, err error) {
	quiet := true
	w.load(from.state)
	k.moves = w.moves(k.moves[:0])
	for _, m := range k.moves {
		w.load(from.state)
		w.make(m)
		if w.violation != nil {
			return nil, k.tell(w.violation, from.number, &m)
		}
		if w.short { // the history is not followed
			w.short, quiet = false, false
			k.Short++
			k.ends[from.number] = true
			continue
		}
		w.simplify()
		k.Transitions++
		var to uint32
		if to, todo = k.reach(w, todo, origin{from.number, m}); k.plan.Limit > 0 && k.States > k.plan.Limit {
			return nil, fmt.Errorf("walk: more than %d states", k.plan.Limit)
		}
		quiet = quiet && (!m.goesOn() || to == from.number)
		if m.expected() && to != from.number {
			k.edges = append(k.edges, edge{from.number, to})
		}
	}
	if !quiet {
		return todo, nil
	}
	k.Quiet++
	w.load(from.state)
	if w.checkQuiet(); w.violation != nil {
		return nil, k.tell(w.violation, from.number, nil)
	}
	if w.over() {
		k.Ends++
		k.ends[from.number] = true
	}
	return todo, nil
}

// reach gives the number of the state of a world. One that was not reached before is to wait.
func (k *walker) reach(w *world, todo []waiting, by origin) (uint32, []waiting) {
	p := w.fingerprint()
	if number, known := k.numbers[p]; known {
		return number, todo
	}
	number, reached := uint32(k.States), w.state
	k.numbers[p] = number
	k.origins, k.ends = append(k.origins, by), append(k.ends, false)
	k.States++
	return number, append(todo, waiting{&reached, number})
}

// everyoneCanEnd is invariant 7: from every state there is a way to the end of all requests without anything that is
// counted, by what goes on and by releases alone. Most edges lead away from the start: a few sweeps, each from the end,
// find all states that have a way.
func (k *walker) everyoneCanEnd() error {
	k.numbers = nil
	for more := true; more; {
		more = false
		for _, e := range slices.Backward(k.edges) {
			if k.ends[e.to] && !k.ends[e.from] {
				k.ends[e.from], more = true, true
			}
		}
	}
	if number := slices.Index(k.ends, false); number >= 0 {
		v := &Violation{Invariant: AllEnd, What: "from here no way leads to the end of all requests"}
		return k.tell(v, uint32(number), nil)
	}
	return nil
}

// tell adds the story that leads to a state, and one more move.
func (k *walker) tell(v *Violation, number uint32, last *move) error {
	var way []move
	if last != nil {
		way = append(way, *last)
	}
	for ; number != 0; number = k.origins[number].from {
		way = append(way, k.origins[number].by)
	}
	w := newWorld(k.plan, k.mistake, k.Fired)
	w.telling = true
	for i := range way {
		from := w.state
		w.load(&from)
		w.lines = nil
		w.make(way[len(way)-1-i])
		w.simplify()
		v.Story = append(v.Story, fmt.Sprintf("%3d. %s", i+1, strings.Join(w.lines, "; ")))
	}
	return v
}
