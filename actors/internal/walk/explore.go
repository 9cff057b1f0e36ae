package walk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Result is what a walk has seen.
type Result struct {
	// States, Transitions: how many there are. Depth: of the state that is farthest from the start.
	States, Transitions, Depth int
	// Quiet: states in which nothing happens by itself. Ends: those of them in which all is over.
	Quiet, Ends int
	Elapsed     time.Duration
	// Fired are the rows of the machine's table that some history has reached.
	Fired map[*machine.Row]bool
}

// String is one line of figures.
func (r Result) String() string {
	return fmt.Sprintf("%d states, %d transitions, depth %d, %d at rest, %d ends, %v",
		r.States, r.Transitions, r.Depth, r.Quiet, r.Ends, r.Elapsed.Round(time.Millisecond))
}

// Walk explores every history of a plan. The error is a *Violation, or says that the limit was reached.
func Walk(plan Plan) (Result, error) {
	began := time.Now()
	k := &walker{plan: &plan, numbers: map[fingerprint]uint32{}}
	k.Fired = map[*machine.Row]bool{}
	err := k.explore()
	if err == nil {
		err = k.everyoneCanEnd()
	}
	k.Elapsed = time.Since(began)
	return k.Result, err
}

// walker is a walk under way. It goes breadth first, so that the first story found is the shortest.
type walker struct {
	plan *Plan
	// numbers gives the number of each state reached; origins, by number, from where and by which move it was reached
	// first.
	numbers map[fingerprint]uint32
	origins []origin
	// edges are the transitions that may be counted on.
	edges []edge
	// ends tells from which states there is a way to the end; in explore, which are the end.
	ends []bool
	Result
}

type origin struct {
	from uint32
	by   move
}

type edge struct{ from, to uint32 }

// newWorld makes a world at the start of a plan.
func newWorld(plan *Plan, fired map[*machine.Row]bool) *world {
	w := &world{plan: plan, fired: fired}
	w.print.rename = w.rename
	for i := range plan.Sessions {
		w.specs[i] = plan.spec(i)
	}
	w.left = plan.Bounds
	for s := range w.sessions {
		w.sessions[s] = session{decides: coordinator.New(plan.Without, sessionTimeout), run: 1}
		if !plan.Down {
			w.sessions[s].served, w.sessions[s].link, w.sessions[s].up = alive, linked, true
			w.tell(s, coordinator.Connected{Timeout: sessionTimeout})
		}
	}
	for i := range plan.Sessions {
		w.actors[i].m = machine.New(plan.Try[i])
		if !plan.Arrive[i] {
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

func (k *walker) explore() error {
	w := newWorld(k.plan, k.Fired)
	if w.violation != nil {
		return w.violation
	}
	k.number(w.fingerprint(), origin{})
	start := w.state
	var moves []move
	for level, number := []*state{&start}, uint32(0); len(level) > 0; k.Depth++ {
		var next []*state
		for at, from := range level {
			level[at] = nil // its memory is needed
			w.load(from)
			moves = w.moves(moves[:0])
			found, err := k.expand(w, from, number, moves)
			if err != nil {
				return err
			}
			next = append(next, found...)
			number++
		}
		if k.plan.Limit > 0 && k.States > k.plan.Limit {
			return fmt.Errorf("walk: more than %d states", k.plan.Limit)
		}
		level = next
	}
	k.Depth--
	return nil
}

// expand makes every move of a state. It gives the states that were not reached before.
func (k *walker) expand(w *world, from *state, number uint32, moves []move) (found []*state, err error) {
	quiet := true
	for _, m := range moves {
		w.load(from)
		w.make(m)
		if w.violation != nil {
			return nil, k.tell(w.violation, number, &m)
		}
		w.simplify()
		k.Transitions++
		to, known := k.number(w.fingerprint(), origin{number, m})
		if !known {
			next := w.state
			found = append(found, &next)
		}
		quiet = quiet && (!m.goesOn() || to == number)
		if m.expected() && to != number {
			k.edges = append(k.edges, edge{number, to})
		}
	}
	if !quiet {
		return found, nil
	}
	k.Quiet++
	w.load(from)
	if w.checkQuiet(); w.violation != nil {
		return nil, k.tell(w.violation, number, nil)
	}
	if w.over() {
		k.Ends++
		k.ends[number] = true
	}
	return found, nil
}

// number gives the number of a state, and whether it was reached before.
func (k *walker) number(p fingerprint, by origin) (number uint32, known bool) {
	if number, known = k.numbers[p]; known {
		return number, true
	}
	number = uint32(len(k.origins))
	k.numbers[p] = number
	k.origins, k.ends = append(k.origins, by), append(k.ends, false)
	k.States++
	return number, false
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
	w := newWorld(k.plan, k.Fired)
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
