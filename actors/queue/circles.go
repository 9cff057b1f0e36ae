package queue

import (
	"slices"
	"sort"

	"github.com/turnstile-locks/turnstile/messages"
)

// link leads from a request to one that it waits for, and to the node that keeps it out: the
// other's own, or its owner's.
type link struct {
	keeps, waits *waiter
}

// links is the graph of the stuck requests. A request may wait for all before it, and for each
// through all requests of its owner. So edges lead to helpers: the first n of a line, in a chain,
// each of whom leads to the requests of its owner, which are a chain, too.
type links struct {
	vertices []vertex // the first is none
	knots    []knot
	stack    []edge
	round    int
}

type vertex struct {
	waits *waiter // nil for a helper
	keeps *waiter // of a helper in the chain of a line: the node that keeps others out
	next  [2]int  // of a helper: the rest of its chain, and what it leads to
	knot  int
	round int // the search that came here last
	came  int // from there
}

type edge struct{ from, to int }

// knot has requests that all wait for each other, directly or through others.
type knot struct {
	requests, searches, members int
	spare                       []link // the shortest circle that was found, even with members to spare
}

// chains are the helpers of a line that keep others out, and those of them that keep readers out.
type chains [2][]int

func (g *links) add(v vertex) int {
	g.vertices = append(g.vertices, v)
	return len(g.vertices) - 1
}

func last(chain []int) int {
	if len(chain) == 0 {
		return 0
	}
	return chain[len(chain)-1]
}

// before gives the part of a chain that is before a number.
func (g *links) before(chain []int, index int) []int {
	return chain[:sort.Search(len(chain), func(i int) bool { return g.vertices[chain[i]].keeps.index >= index })]
}

// connect links each stuck request to all before it whose owners are blocked, or to the first that
// merely waits.
func (s *deadlockSearch) connect() *links {
	g := &links{vertices: make([]vertex, 1)}
	for _, l := range s.lines {
		for _, w := range l.all {
			if w.stuck {
				w.vertex = g.add(vertex{waits: w})
			}
		}
	}
	requests := len(g.vertices)
	for _, o := range s.owners {
		for _, w := range s.stuck(o) {
			o.vertex = g.add(vertex{next: [2]int{o.vertex, w.vertex}})
		}
	}
	for _, l := range s.lines {
		for _, b := range l.all {
			for kind, chain := range l.chains {
				to := 0
				switch {
				case kind == 1 && !WaitsFor(messages.Read, b.style.Mode):
				case s.ownerBlocked(b):
					to = s.owners[b.Who].vertex
				case len(chain) == 0: // otherwise others keep out whom it keeps out
					to = b.vertex
				}
				if to != 0 {
					l.chains[kind] = append(chain, g.add(vertex{keeps: b, next: [2]int{last(chain), to}}))
				}
			}
		}
	}
	for at := 1; at < requests; at++ {
		w := g.vertices[at].waits
		for i, side := range w.sides() {
			g.vertices[at].next[i] = last(g.before(side.line.chains[w.style.reads()], side.index))
		}
	}
	return g
}

// stuck gives the stuck requests of an owner. Where it is blocked only for what it holds, any one
// of a queue will do.
func (s *deadlockSearch) stuck(o *owner) (all []*waiter) {
	type place struct {
		line  *contested
		reads int
		part  bool
	}
	known := map[place]bool{}
	for _, w := range o.waiting {
		if at := (place{w.line, w.style.reads(), s.part[w.At()]}); w.stuck && !known[at] {
			known[at] = s.holders
			all = append(all, w)
		}
	}
	return all
}

func (s *deadlockSearch) circles(g *links) (found []messages.Deadlock) {
	seen := map[*waiter]bool{} // part of a circle that was found
	for _, w := range s.knotted(g) {
		k := &g.knots[g.vertices[w.vertex].knot]
		if seen[w] || k.searches == mostCircles || k.members >= 4*k.requests {
			continue
		}
		k.searches++
		circle := s.shortest(g, w.vertex)
		if s.hasShortcut(g, circle) {
			if k.spare == nil || len(circle) < len(k.spare) {
				k.spare = circle
			}
			continue
		}
		for _, l := range circle {
			seen[l.waits] = true
		}
		k.members += len(circle)
		found = append(found, describe(circle))
	}
	for _, k := range g.knots {
		if k.members == 0 && k.spare != nil {
			found = append(found, describe(k.spare))
		}
	}
	return found
}

func (s *deadlockSearch) knotted(g *links) (all []*waiter) {
	s.tie(g)
	for _, v := range g.vertices {
		if k := &g.knots[v.knot]; v.waits != nil && v.knot > 0 {
			k.requests++
			all = append(all, v.waits)
		}
	}
	slices.SortFunc(all, func(a, b *waiter) int { return messages.Older(a.Contender, b.Contender) })
	return all
}

// tie finds the knots, the strongly connected components, by Tarjan's algorithm; without recursion,
// because other processes' data would decide its depth. A lone vertex has knot zero.
func (s *deadlockSearch) tie(g *links) {
	g.knots = make([]knot, 1)
	type visit struct{ vertex, next int }
	var (
		n     = len(g.vertices)
		seen  = make([]int, n) // its number in the order of visits; zero for none
		low   = make([]int, n) // the lowest number that it reaches among the open ones
		open  []int            // visited, and not part of a knot yet
		isIn  = make([]bool, n)
		count int
	)
	for root := 1; root < n; root++ {
		if seen[root] > 0 {
			continue
		}
		for path := []visit{{vertex: root}}; len(path) > 0; {
			at := &path[len(path)-1]
			v := at.vertex
			if at.next == 0 {
				count++
				seen[v], low[v], isIn[v] = count, count, true
				open = append(open, v)
			}
			if at.next < len(g.vertices[v].next) {
				to := g.vertices[v].next[at.next]
				at.next++
				s.steps++
				switch {
				case to == 0:
				case seen[to] == 0:
					path = append(path, visit{vertex: to})
				case isIn[to]:
					low[v] = min(low[v], seen[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1].vertex
				low[parent] = min(low[parent], low[v])
			}
			if low[v] < seen[v] {
				continue
			}
			alone := open[len(open)-1] == v
			if !alone {
				g.knots = append(g.knots, knot{})
			}
			for isIn[v] {
				m := open[len(open)-1]
				open, isIn[m] = open[:len(open)-1], false
				if !alone {
					g.vertices[m].knot = len(g.knots) - 1
				}
			}
		}
	}
}

func (g *links) follow(from int) {
	for _, to := range slices.Backward(g.vertices[from].next[:]) {
		if to != 0 && g.vertices[to].knot == g.vertices[from].knot {
			g.stack = append(g.stack, edge{from, to})
		}
	}
}

func (s *deadlockSearch) shortest(g *links, from int) []link {
	g.round++
	for queue := []int{from}; len(queue) > 0 && g.vertices[from].round != g.round; queue = queue[1:] {
		g.stack = g.stack[:0]
		for g.follow(queue[0]); len(g.stack) > 0; {
			e := g.stack[len(g.stack)-1]
			g.stack = g.stack[:len(g.stack)-1]
			s.steps++
			v := &g.vertices[e.to]
			if v.round == g.round {
				continue
			}
			v.round, v.came = g.round, e.from
			if v.waits == nil {
				g.follow(e.to)
			} else {
				queue = append(queue, e.to)
			}
		}
	}
	var circle []link
	for at := from; at != from || circle == nil; {
		l, to := link{keeps: g.vertices[at].waits, waits: g.vertices[at].waits}, at
		for at = g.vertices[at].came; g.vertices[at].waits == nil; at = g.vertices[at].came {
			if before := g.vertices[at]; before.keeps != nil && before.next[1] == to {
				l.keeps = before.keeps
			}
			to = at
		}
		circle = append(circle, l)
	}
	slices.Reverse(circle)
	return circle
}

// hasShortcut reports whether a circle is one without some of its members.
func (s *deadlockSearch) hasShortcut(g *links, circle []link) bool {
	members := map[int][]*waiter{} // by what leads to them
	for _, l := range circle {
		w := l.waits
		members[w.vertex] = append(members[w.vertex], w)
		if o := s.owners[w.Who]; o != nil {
			members[o.vertex] = append(members[o.vertex], w)
		}
	}
	for i, l := range circle {
		from, next := g.vertices[l.waits.vertex], circle[(i+1)%len(circle)].waits
		for _, at := range from.next {
			for ; at != 0 && g.vertices[at].knot == from.knot; at = g.vertices[at].next[0] {
				s.steps++
				if slices.ContainsFunc(members[g.vertices[at].next[1]], func(w *waiter) bool { return w != next }) {
					return true
				}
			}
		}
	}
	return false
}

func describe(circle []link) messages.Deadlock {
	var d messages.Deadlock
	for _, l := range circle {
		d.Members = append(d.Members, messages.Member{Who: l.waits.Who, Keeps: l.keeps.Contender, Waits: l.waits.Contender})
	}
	return d.Turn()
}
