package coordinator

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// take gives an event to a machine, and its orders to the session.
func (g *game) take(p *player, ev machine.Event) {
	ev.Lease = g.at.Lease.Valid
	if ev.Overdue = ""; !g.at.Lease.Valid || p.term != g.at.Lease.Term {
		ev.Overdue = messages.ReasonLeaseOver
	}
	held := p.m.Holding()
	effects, _ := p.m.Step(ev)
	if p.m.State.Holding() && !held {
		p.term, p.held = g.at.Lease.Term, g.c.Epoch()
		g.excludes(p)
	}
	for _, e := range effects.All() {
		switch {
		case e.Do == machine.Halt:
			require.FailNow(g.t, "impossible", "seed %d, step %d: r%d, %+v, takes %+v\n%s",
				g.seed, g.steps, p.id, p.m, ev, g.tale())
		case e.Do == machine.StartPoll || e.Do == machine.StartRetry:
			p.polls = append(p.polls, e.Op)
		case e.Do <= machine.CleanUp:
			g.orders = append(g.orders, &Order{Request: p.id, Spec: p.spec, Effect: e, Epoch: p.epoch})
		}
	}
	if p.m.State.Terminal() {
		g.stop(p)
	}
}

// stop ends a lock actor.
func (g *game) stop(p *player) {
	if !p.done {
		p.done, p.told, p.polls = true, nil, nil
		g.orders = append(g.orders, Ended{p.id})
	}
}

// anyone gives somebody of whom something is true.
func (g *game) anyone(is func(*player) bool) *player {
	for _, i := range g.r.Perm(len(g.players)) {
		if p := g.players[i]; !p.done && is(p) {
			return p
		}
	}
	return nil
}

// hear has a lock actor take what it is told.
func (g *game) hear() bool {
	p := g.anyone(func(p *player) bool { return len(p.told) > 0 })
	if p == nil {
		return false
	}
	next := p.told[0]
	p.told = p.told[1:]
	p.epoch = next.epoch
	g.take(p, next.event)
	return true
}

// order has the session take an order.
func (g *game) order() bool {
	if len(g.orders) == 0 {
		return false
	}
	next := g.orders[0]
	g.orders = g.orders[1:]
	g.apply(next)
	return true
}

// answer has a query answered, in any order, unless a fault strikes it.
func (g *game) answer() bool {
	if len(g.asks) == 0 {
		return false
	}
	i := g.r.IntN(len(g.asks))
	ask := g.asks[i]
	if ask.answer != nil {
		g.asks = slices.Delete(g.asks, i, i+1)
		g.apply(&Reply{ID: ask.ID, Answer: ask.answer})
		return true
	}
	fault := 9
	if !g.calm {
		fault = g.r.IntN(30)
	}
	if _, creates := ask.Query.(*Create); g.lossy && creates && !g.calm && g.one(3) {
		fault = 1
	}
	if !g.up {
		fault = g.r.IntN(4)
	}
	var answer Answer
	switch fault {
	case 0:
		answer = unanswered(ask.Query, Failure{Outcome: NotSent})
	case 1:
		answer = unanswered(ask.Query, Failure{Outcome: Unknown})
		g.lose(ask.Query)
	case 2: // it was carried out, and the reply is lost
		g.s.do(ask.Query, g.c.Epoch())
		answer = unanswered(ask.Query, Failure{Outcome: Unknown})
	case 3:
		answer = unanswered(ask.Query, Failure{Outcome: Unknown, Trouble: "the server hangs up"})
	case 4:
		answer = unanswered(ask.Query, Failure{Outcome: Deferred, Trouble: "the server is throttled"})
	default:
		answer = g.s.do(ask.Query, g.c.Epoch())
	}
	if g.one(3) { // it comes later
		g.asks[i].answer = answer
		return true
	}
	g.asks = slices.Delete(g.asks, i, i+1)
	g.apply(&Reply{ID: ask.ID, Answer: answer})
	return true
}

// relies reports whether an owner may believe that it holds the lock.
func (g *game) relies(p *player) bool {
	return !p.done && p.m.Holding() && g.at.Lease.Valid && p.term == g.at.Lease.Term && p.held == g.c.Epoch()
}

// excludes sees that nobody else relies on a lock that was granted. Of those whose nodes an operator has deleted nothing is
// asked: that takes their locks away before they can know.
func (g *game) excludes(p *player) {
	permits := 0
	for _, holder := range g.players {
		if !g.hasNode(p) || !g.relies(holder) || holder.spec.Path != p.spec.Path || !g.hasNode(holder) {
			continue
		}
		permits += holder.spec.Style.Weight
		a, b := holder.spec, p.spec
		shares := holder == p || a.Permits > 0 || a.Style.Mode == messages.Read && b.Style.Mode == messages.Read || a.Want.Beside == p.m.Node || b.Want.Beside == holder.m.Node
		require.True(g.t, shares, "seed %d, step %d: r%d and r%d hold the lock\n%s", g.seed, g.steps, holder.id, p.id, g.tale())
	}
	require.False(g.t, p.spec.Permits > 0 && permits > p.spec.Permits, "seed %d, step %d: r%d is one too many\n%s",
		g.seed, g.steps, p.id, g.tale())
}

// isNode reports whether the node that has the name of a player's is that node: in a contest all have one name.
func (p *player) isNode(czxid int64) bool { return p.spec.One == "" || p.m.Token.Zxid() == czxid }

// hasNode reports whether the node with which a player holds is there.
func (g *game) hasNode(p *player) bool {
	n := g.s.nodes[p.spec.At(p.m.Node)]
	return n != nil && p.isNode(n.czxid)
}

// deletes sees that nobody relies on a node that the session has deleted.
func (g *game) deletes(path string, czxid int64) {
	for _, p := range g.players {
		require.False(g.t, g.relies(p) && p.spec.At(p.m.Node) == path && p.isNode(czxid),
			"seed %d, step %d: %s is deleted, while r%d holds with it\n%s", g.seed, g.steps, path, p.id, g.tale())
	}
}

// event has the session hear what has changed.
func (g *game) event() bool {
	if len(g.s.events) == 0 || !g.up {
		return false
	}
	next := g.s.events[0]
	g.s.events = g.s.events[1:]
	g.apply(next)
	return true
}

// fire has a timer fire, or somebody look again.
func (g *game) fire() bool {
	if p := g.anyone(func(p *player) bool { return len(p.polls) > 0 }); p != nil && g.one(3) {
		op := p.polls[0]
		p.polls = p.polls[1:]
		g.take(p, machine.Event{Kind: machine.Poll, Op: op})
		return true
	}
	if len(g.timers) == 0 {
		return false
	}
	i := g.r.IntN(len(g.timers))
	timer := g.timers[i]
	g.timers = slices.Delete(g.timers, i, i+1)
	if g.c.epoch.timers[timer].kind == CreateTimer {
		g.age()
	}
	g.apply(Fired{timer})
	return true
}

// command has an owner do something: it gives back, gives up, or stops the lock actor.
func (g *game) command() bool {
	p := g.anyone(func(p *player) bool { return p.m.State.Holding() || !g.calm && g.one(3) })
	switch {
	case p == nil || !g.calm && g.one(2):
		return false
	case p.m.State.Holding() && !g.calm && g.one(2):
		g.take(p, machine.Event{Kind: []machine.Kind{machine.WatchContention, machine.Check}[g.r.IntN(2)]})
	case p.m.State.Holding() && !g.one(4):
		g.take(p, machine.Event{Kind: machine.Release})
	case !g.calm && g.one(4):
		g.stop(p)
	default:
		g.take(p, machine.Event{Kind: machine.Cancel})
	}
	return true
}

// connection comes, goes, and ends; a lease runs out.
func (g *game) connection() bool {
	switch {
	case !g.up && g.one(2):
		g.connect()
	case g.up && g.one(8):
		g.up = false
		g.apply(Disconnected{})
		g.s.watched, g.s.listed, g.s.events = map[string]bool{}, map[string]bool{}, nil
		g.carryOutLost()
	case g.one(20):
		g.at.Lease.Term++
		g.apply(Expired{})
		g.at.Lease.Term = 1
	case g.one(20):
		g.at.Lease.Term++
	case g.one(4): // a transaction makes a node, or is to
		if g.c.Room(20) {
			g.others += 20
			g.apply(Others{Change: 20})
		}
	}
	return true
}

// lose keeps a create that was lost.
func (g *game) lose(query Query) {
	switch query.(type) {
	case *Create, *CreateAt, *Commit:
		g.lost = append(g.lost, lost{query, 0})
	}
}

// age has time pass for the creates that were lost. None is carried out after the session has forgotten it.
func (g *game) age() {
	for i := range g.lost {
		g.lost[i].looks++
	}
	g.lost = slices.DeleteFunc(g.lost, func(l lost) bool { return l.looks > lateLooks })
}

// carryOutLost has the servers carry out some of the creates that were lost on earlier connections.
func (g *game) carryOutLost() {
	g.lost = slices.DeleteFunc(g.lost, func(late lost) bool {
		if !g.one(3) {
			return false
		}
		before := maps.Clone(g.s.nodes)
		g.s.do(late.query, g.c.Epoch())
		for path := range g.s.nodes {
			if before[path] == nil {
				parent, _ := split(path)
				g.orphans[parent] = true
				g.log = append(g.log, "carried out after all: "+path)
			}
		}
		return true
	})
}

func (g *game) connect() {
	g.up = true
	g.apply(Connected{sessionTimeout})
}

// end has everybody give back, without any more faults, and sees that nothing is left.
func (g *game) end() {
	g.calm = true
	g.apply(Others{Change: -g.others})
	g.others = 0
	if !g.up {
		g.connect()
	}
	left := func() bool {
		return g.c.Requests() > 0 || g.anyone(func(*player) bool { return true }) != nil || len(g.orders) > 0 ||
			g.c.LooksAreDue() || slices.ContainsFunc(g.asks, removesOrphan)
	}
	for n := 0; left(); n++ {
		g.step()
		for g.leave() {
		}
		require.Less(g.t, n, 20000, "seed %d: it never ends\n%s", g.seed, g.tale())
	}
	for path, n := range g.s.nodes {
		require.Zero(g.t, n.owner, "seed %d: %s is left\n%s", g.seed, path, g.tale())
	}
	for _, p := range g.c.epoch.paths {
		require.Zero(g.t, p.requests, "seed %d", g.seed)
		require.Empty(g.t, p.watchers, "seed %d", g.seed)
		for _, q := range p.queues {
			require.Empty(g.t, q.nodes, "seed %d", g.seed)
			require.Empty(g.t, q.burst.creates, "seed %d", g.seed)
			require.Empty(g.t, q.burst.deletes, "seed %d", g.seed)
			require.Zero(g.t, q.waiting, "seed %d", g.seed)
		}
	}
	require.Zero(g.t, g.c.epoch.held)
	require.Equal(g.t, load{shares: map[string]int{}}, g.c.epoch.load)
	require.Empty(g.t, g.c.epoch.parked)
	require.Empty(g.t, g.c.epoch.batch.waiting)
}

func removesOrphan(ask asking) bool {
	switch q := ask.Query.(type) {
	case *Commit:
		return len(q.Deletes) > 0
	case *RemoveContest, *Look:
		return true
	}
	return false
}

// standing writes where everybody stands.
func (g *game) standing() string {
	s := &story{c: g.c}
	s.state()
	for _, p := range g.players {
		if !p.done {
			s.out.WriteString(p.spec.ID + " " + p.m.State.String() + "\n")
		}
	}
	return s.out.String()
}
