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
// through all requests of its owner. So edges lead to helpers, which stand for the first n of a
// track, or for the requests of an owner.
type links struct {
	vertices []vertex // the first is none
	knots    []knot
	stack    []edge
	round    int
}

type vertex struct {
	waits *waiter // nil for a helper
	keeps *waiter // of a helper for requests of a blocked owner: the node that keeps others out
	next  [4]int
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

// tracks are all contenders of a line that keep others out, and those of them that keep readers
// out.
type tracks [2][]mark

// mark is a contender of a track: the helper that leads to it and all before it, and their sum.
type mark struct {
	index, vertex int
	sum           sum
}

func (g *links) add(v vertex) int {
	g.vertices = append(g.vertices, v)
	return len(g.vertices) - 1
}

func (g *links) extend(t *tracks, b *waiter, at int) {
	for kind := range t {
		if kind == 1 && !WaitsFor(messages.Read, b.style.Mode) {
			continue
		}
		m := mark{index: b.index}
		v := vertex{next: [4]int{0, at}}
		if n := len(t[kind]); n > 0 {
			m.sum, v.next[0] = t[kind][n-1].sum, t[kind][n-1].vertex
		}
		m.sum.add(b.style, 1, b.line.permits)
		m.vertex = g.add(v)
		t[kind] = append(t[kind], m)
	}
}

func (t *tracks) before(w *waiter, index int) []mark {
	marks := t[w.style.reads()]
	return marks[:sort.Search(len(marks), func(i int) bool { return marks[i].index >= index })]
}

// connect links each stuck request to the requests that it waits for. Contenders that merely wait
// are left out where others, whose owners are blocked elsewhere, keep the request out anyway.
func (s *deadlockSearch) connect() *links {
	g := &links{vertices: make([]vertex, 1)}
	for _, l := range s.lines {
		for _, w := range l.all {
			if w.stuck {
				w.vertex = g.add(vertex{waits: w})
			}
		}
	}
	all := map[string]int{}
	for who, o := range s.owners {
		all[who] = g.others(s.stuck(o))
	}
	for _, l := range s.lines {
		for _, b := range l.all {
			switch {
			case s.ownerBlocked(b) && b.stuck:
				g.extend(&l.blocked, b, g.add(vertex{keeps: b, next: [4]int{b.others[0], b.others[1]}}))
			case s.ownerBlocked(b):
				g.extend(&l.blocked, b, g.add(vertex{keeps: b, next: [4]int{all[b.Who]}}))
			case b.stuck:
				g.extend(&l.queued, b, b.vertex)
			}
		}
		for _, w := range l.all {
			if w.stuck {
				g.vertices[w.vertex].next = w.links()
			}
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

// others makes the helpers from each request to the others of its owner. It gives the one that
// leads to all.
func (g *links) others(all []*waiter) (last int) {
	for _, w := range all {
		w.others[0] = last
		last = g.add(vertex{next: [4]int{last, w.vertex}})
	}
	after := 0
	for _, w := range slices.Backward(all) {
		w.others[1] = after
		after = g.add(vertex{next: [4]int{w.vertex, after}})
	}
	return last
}

// links gives the vertices of those who keep a request out: all whose owners are blocked, and as
// few that merely wait as it takes, beside the permits that are never given back.
func (w *waiter) links() (next [4]int) {
	var never sum
	sides := w.sides()
	for i, s := range sides {
		if marks := s.line.blocked.before(w, s.index); len(marks) > 0 {
			last := marks[len(marks)-1]
			next[i], never = last.vertex, never.plus(last.sum)
		}
	}
	for i, s := range sides {
		marks := s.line.queued.before(w, s.index)
		if never.stops(w) || len(marks) == 0 {
			continue
		}
		enough := sort.Search(len(marks)-1, func(n int) bool { return never.plus(marks[n].sum).stops(w) })
		next[2+i], never = marks[enough].vertex, never.plus(marks[enough].sum)
	}
	return next
}

func (b sum) plus(c sum) sum { return sum{b.all + c.all, b.writers + c.writers, b.taken + c.taken} }

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
		l := link{keeps: g.vertices[at].waits, waits: g.vertices[at].waits}
		for at = g.vertices[at].came; g.vertices[at].waits == nil; at = g.vertices[at].came {
			if keeps := g.vertices[at].keeps; keeps != nil {
				l.keeps = keeps
			}
		}
		circle = append(circle, l)
	}
	slices.Reverse(circle)
	return circle
}

// hasShortcut reports whether a circle is one without some of its members.
func (s *deadlockSearch) hasShortcut(g *links, circle []link) bool {
	index, owned := map[*waiter]int{}, map[string][]*waiter{}
	for i, l := range circle {
		index[l.waits] = i
		owned[l.waits.Who] = append(owned[l.waits.Who], l.waits)
	}
	for i, l := range circle {
		next := circle[(i+1)%len(circle)].waits
		g.stack = g.stack[:0]
		for g.follow(l.waits.vertex); len(g.stack) > 0; {
			at := g.stack[len(g.stack)-1].to
			g.stack = g.stack[:len(g.stack)-1]
			s.steps++
			v := &g.vertices[at]
			switch {
			case v.keeps != nil:
				for _, w := range owned[v.keeps.Who] {
					if w != v.keeps && w != next {
						return true
					}
				}
			case v.waits == nil:
				g.follow(at)
			case v.waits != next:
				if _, member := index[v.waits]; member {
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
