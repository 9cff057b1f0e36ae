package walk

import (
	"fmt"
	"strings"
	"time"

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

// walker is a walk under way: breadth first, so that the first story found is the shortest.
type walker struct {
	plan *Plan
	// numbers gives the number of each state reached, parents from where and by which move, by number.
	numbers map[fingerprint]uint32
	parents []origin
	// edges are the transitions that may be counted on.
	edges [][]edge
	goals []uint32
	Result
}

type origin struct {
	from uint32
	by   move
}

type edge struct{ from, to uint32 }

// Walk explores every history of a plan. The error is a *Violation, or says that the limit was reached.
func Walk(plan Plan) (Result, error) {
	began := time.Now()
	k := &walker{plan: &plan, numbers: map[fingerprint]uint32{}}
	err := k.explore()
	if err == nil {
		err = k.everyoneCanEnd()
	}
	k.Elapsed = time.Since(began)
	return k.Result, err
}

func (k *walker) explore() error {
	start := newWorld(k.plan)
	start.simplify()
	if start.violation != nil {
		return start.violation
	}
	k.number(start.fingerprint(), origin{})
	level := &shelf{}
	level.put(&start.state)
	number := uint32(0)
	var moves []move
	k.Fired = map[*machine.Row]bool{}
	w := empty(k.plan)
	w.fired = k.Fired
	for level.n > 0 {
		next := &shelf{}
		for from := range level.empty() {
			w.state, w.cloned = *from, [maxSessions]bool{}
			moves = w.moves(moves[:0])
			if err := k.expand(w, from, number, moves, next); err != nil {
				return err
			}
			number++
		}
		level = next
		if level.n > 0 {
			k.Depth++
		}
		if k.plan.Limit > 0 && k.States > k.plan.Limit {
			return fmt.Errorf("walk: more than %d states", k.plan.Limit)
		}
	}
	return nil
}

// expand makes every move of a state.
func (k *walker) expand(w *world, from *state, number uint32, moves []move, next *shelf) error {
	quiet := true
	for _, m := range moves {
		w.state, w.cloned = *from, [maxSessions]bool{}
		w.make(m)
		if w.violation != nil {
			return k.tell(w.violation, number, &m)
		}
		w.simplify()
		k.Transitions++
		to, known := k.number(w.fingerprint(), origin{number, m})
		if !known {
			next.put(&w.state)
		}
		if m.kind.goesOn() && to != number {
			quiet = false
		}
		if m.kind.expected() && to != number {
			k.edge(number, to)
		}
	}
	if !quiet {
		return nil
	}
	k.Quiet++
	w.state = *from
	w.checkQuiet()
	if w.violation != nil {
		return k.tell(w.violation, number, nil)
	}
	if w.over() {
		k.Ends++
		k.goals = append(k.goals, number)
	}
	return nil
}

// edge keeps a transition.
func (k *walker) edge(from, to uint32) {
	last := len(k.edges) - 1
	if last < 0 || len(k.edges[last]) == cap(k.edges[last]) {
		k.edges = append(k.edges, make([]edge, 0, 1<<18))
		last++
	}
	k.edges[last] = append(k.edges[last], edge{from, to})
}

// number gives the number of a state, and whether it was reached before.
func (k *walker) number(p fingerprint, by origin) (number uint32, known bool) {
	if number, known = k.numbers[p]; known {
		return number, true
	}
	number = uint32(len(k.parents))
	k.numbers[p] = number
	k.parents = append(k.parents, by)
	k.States++
	return number, false
}

// everyoneCanEnd is invariant 7: from every state there is a way to the end of all requests, without
// anything that is counted: only by what goes on, and by releases.
func (k *walker) everyoneCanEnd() error {
	k.numbers = nil
	starts := make([]uint32, k.States+1) // where the edges into a state begin
	total := 0
	for _, part := range k.edges {
		for _, e := range part {
			starts[e.to+1]++
		}
		total += len(part)
	}
	for i := range k.States {
		starts[i+1] += starts[i]
	}
	sources := make([]uint32, total)
	place := append([]uint32(nil), starts...)
	for at, part := range k.edges {
		for _, e := range part {
			sources[place[e.to]] = e.from
			place[e.to]++
		}
		k.edges[at] = nil
	}
	ends := make([]bool, k.States)
	todo := k.goals
	for _, g := range todo {
		ends[g] = true
	}
	for len(todo) > 0 {
		to := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range sources[starts[to]:starts[to+1]] {
			if !ends[from] {
				ends[from] = true
				todo = append(todo, from)
			}
		}
	}
	for number, can := range ends {
		if !can {
			return k.tell(&Violation{Invariant: AllEnd, What: "from here no way leads to the end of all requests"},
				uint32(number), nil)
		}
	}
	return nil
}

// tell adds the story that leads to a state, and one more move.
func (k *walker) tell(v *Violation, number uint32, last *move) error {
	var way []move
	for number != 0 {
		way = append(way, k.parents[number].by)
		number = k.parents[number].from
	}
	w := newWorld(k.plan)
	w.simplify()
	w.telling = true
	for i := range way {
		w.retell(&v.Story, way[len(way)-1-i])
	}
	if last != nil {
		w.retell(&v.Story, *last)
	}
	return v
}

// retell makes a move and writes down what it did.
func (w *world) retell(story *[]string, m move) {
	w.lines, w.cloned = nil, [maxSessions]bool{}
	w.make(m)
	for i, line := range w.lines {
		if i == 0 {
			line = fmt.Sprintf("%3d. %s", len(*story)+1, line)
			*story = append(*story, line)
			continue
		}
		(*story)[len(*story)-1] += "; " + line
	}
	w.simplify()
}
