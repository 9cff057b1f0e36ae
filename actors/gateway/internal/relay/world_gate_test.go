package relay_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// gate is a gateway with its session, and models of its lock actors.
type gate struct {
	process
	w       *world
	name    string
	number  uint64 // its name on the wire
	table   *relay.Table
	cut     bool          // from the ensemble
	heard   time.Duration // when the ensemble was last in reach, by its own clock
	expires time.Duration // by the ensemble's clock
	lease   time.Duration // until when its own lease runs, by its own clock
	epoch   uint64
	locks   map[string]*lockModel
}

// lockModel is a lock actor of a gateway.
type lockModel struct {
	state messages.State
	grant messages.Grant
	ends  any  // the notice that follows the delete
	late  bool // nobody wanted the lock any more when it was asked for

	more       bool // TellMore
	contention bool // it looks for contenders
	check      int  // the newest check
	links      int  // how often it was suspended
}

// holds reports whether it holds, suspended or not.
func (l *lockModel) holds() bool { return l.state == messages.StateHeld || l.suspended() }

func (l *lockModel) suspended() bool { return l.state == messages.StateRecovering }

func newGate(w *world, name string) *gate {
	g := &gate{process: w.newProcess(), w: w, name: name, locks: map[string]*lockModel{}}
	limits := relay.Usual()
	if w.random.IntN(4) == 0 {
		limits = relay.Limits{Requests: 1 + w.random.IntN(4), Ended: 1 + w.random.IntN(20)}
	}
	g.number = 1 + w.random.Uint64()>>1
	g.table = relay.NewTable(g.number, timeout, limits)
	g.connect()
	g.beat()
	g.sweep()
	return g
}

func (g *gate) instant() relay.Instant { return relay.Instant(g.clock(g.w.now)) }

// Left is the lease of this session. Its term is never over and followed by another in this model.
func (g *gate) Left(epoch, _ uint64) time.Duration {
	if epoch != g.epoch {
		return 0
	}
	return g.lease - g.clock(g.w.now)
}

// connect begins a session.
func (g *gate) connect() {
	g.epoch++
	g.expires = g.w.now + timeout
	g.lease = g.clock(g.w.now) + 4*timeout/5
	g.expiry(g.epoch)
}

// expiry ends the session at the ensemble when nothing was heard of it.
func (g *gate) expiry(epoch uint64) {
	g.w.after(max(g.expires-g.w.now, 0), nil, func() {
		switch {
		case g.epoch != epoch:
		case g.w.now < g.expires:
			g.expiry(epoch)
		default:
			g.w.tell("%s: session expired", g.name)
			g.w.zk.remove(func(n znode) bool { return n.of == g })
			g.expires = -1
		}
	})
}

// beat is the heartbeat.
func (g *gate) beat() {
	sent := g.clock(g.w.now)
	if !g.cut {
		if g.expires < 0 { // the server says so
			g.loseAll(messages.ReasonSessionExpired)
			g.connect()
		} else {
			g.expires = g.w.now + timeout
			epoch := g.epoch
			g.w.after(time.Millisecond, &g.process, func() {
				if g.epoch == epoch && g.clock(g.w.now) < g.lease {
					g.lease = max(g.lease, sent+4*timeout/5)
				} else if g.epoch == epoch {
					g.lease = sent + 4*timeout/5
				}
			})
		}
	}
	if g.clock(g.w.now) >= g.lease {
		g.loseAll(messages.ReasonLeaseOver)
	}
	g.checkLinks()
	g.w.after(timeout/6, &g.process, g.beat)
}

// loseAll takes the lock from its holder, and begins anew for the waiters, as lock actors do.
func (g *gate) loseAll(why messages.Reason) {
	for id, l := range g.locks {
		if l.holds() {
			g.lose(id, l, why)
			g.w.zk.remove(func(n znode) bool { return n.of == g && n.id == id })
		} else if why == messages.ReasonSessionExpired {
			if l.state == messages.StateWatching {
				g.move(id, l, messages.StateCreating)
			}
			g.create(id, l)
		}
	}
}

func (g *gate) lose(id string, l *lockModel, why messages.Reason) {
	g.move(id, l, messages.StateLost)
	g.told(id, &messages.Lost{Grant: l.grant, Reason: why})
	delete(g.locks, id)
}

func (g *gate) sweep() {
	g.perform(g.table.Sweep(g.instant()))
	if !g.cut {
		g.heard = g.clock(g.w.now)
	}
	g.table.Servers(g.clock(g.w.now)-g.heard < timeout/5)
	g.perform(g.table.Flush(g.instant(), g))
	g.w.after(timeout/16, &g.process, g.sweep)
}

func (g *gate) told(id string, notice any) {
	g.table.Told(g.instant(), id, notice)
	g.w.after(0, &g.process, func() { g.perform(g.table.Flush(g.instant(), g)) })
}

func (g *gate) move(id string, l *lockModel, to messages.State) {
	from := l.state
	l.state = to
	at := time.Unix(0, int64(g.w.now)) // for the witness
	g.told(id, &messages.Transition{Grant: l.grant, From: from, To: to, At: at})
}

// learn tells a request which node is before its own, unless its session is out of reach: then it looks again.
func (g *gate) learn(n znode, before string) {
	l := g.locks[n.id]
	switch {
	case l == nil || l.state != messages.StateWatching || !g.w.zk.isBehind(n, before):
	case g.cut || g.expires < 0:
		g.w.after(timeout/4, &g.process, func() { g.learn(n, before) })
	default:
		g.table.WaitsFor(n.id, messages.Contender{Path: l.grant.Path, Node: before})
		g.w.after(0, &g.process, func() { g.perform(g.table.Flush(g.instant(), g)) })
	}
}

// isBehind reports whether a node is still behind another one.
func (z *ensemble) isBehind(n znode, before string) bool {
	i := slices.IndexFunc(z.queue, func(o znode) bool { return o.zxid == n.zxid })
	return i > 0 && z.before(i) == before
}

// turn grants the lock to a request, unless it has been given up.
func (g *gate) turn(id string, zxid int64) {
	l := g.locks[id]
	if l == nil || l.state != messages.StateWatching && l.state != messages.StateCreating || !g.w.zk.first(id) {
		return
	}
	if g.cut || g.clock(g.w.now) >= g.lease || g.expires < 0 { // it looks again
		g.w.after(timeout/4, &g.process, func() { g.turn(id, zxid) })
		return
	}
	l.grant.Token, _ = messages.NewToken(zxid, 0)
	g.move(id, l, messages.StateHeld)
	held := &messages.Held{Grant: l.grant, Epoch: g.epoch, Term: 1}
	if l.more {
		held.Places = 5
	}
	g.told(id, held)
	g.watchOwn(id, l)
}

// create makes the node of a request, once the ensemble is in reach.
func (g *gate) create(id string, l *lockModel) {
	epoch := g.epoch
	g.w.after(time.Millisecond, &g.process, func() {
		waits := l.state == messages.StateCreating || l.state == messages.StateWatching
		switch {
		case g.locks[id] != l || !waits || g.epoch != epoch && g.expires >= 0 && g.w.zk.has(id):
		case g.cut || g.expires < 0:
			g.w.after(timeout/4, &g.process, func() { g.create(id, l) })
		case !g.w.zk.has(id):
			if l.state == messages.StateCreating {
				g.move(id, l, messages.StateWatching)
			}
			g.w.zk.create(id, g)
		}
	})
}

func (z *ensemble) has(id string) bool {
	for _, n := range z.queue {
		if n.id == id {
			return true
		}
	}
	return false
}

// remove deletes the node of a request, and tells its end; it tries again while the ensemble is out of reach.
func (g *gate) remove(id string, l *lockModel) {
	if g.cut {
		g.w.after(timeout/4, &g.process, func() { g.remove(id, l) })
		return
	}
	g.w.zk.remove(func(n znode) bool { return n.of == g && n.id == id })
	to := messages.StateCancelled
	if _, released := l.ends.(*messages.Released); released {
		to = messages.StateReleased
	}
	g.move(id, l, to)
	g.told(id, l.ends)
	delete(g.locks, id)
}

func (g *gate) command(id string, command any) {
	l := g.locks[id]
	if l == nil || l.state == messages.StateReleasing {
		return
	}
	why := messages.ReasonReleased
	switch c := command.(type) {
	case *messages.Check:
		g.check(id, l)
		return
	case *messages.WatchContention:
		g.watchContention(id, l)
		return
	case *messages.Cancel:
		why = c.Reason
	}
	switch {
	case l.holds():
		l.ends = &messages.Released{Grant: l.grant, Reason: why}
	default:
		l.ends = &messages.Cancelled{Grant: l.grant, Reason: why}
	}
	g.w.tell("%s: %s gives back, %s", g.name, id, why)
	g.move(id, l, messages.StateReleasing)
	g.w.after(time.Millisecond, &g.process, func() { g.remove(id, l) })
}

func (g *gate) perform(out []relay.Output) {
	for _, o := range out {
		switch o := o.(type) {
		case relay.Spawn:
			l := &lockModel{grant: messages.Grant{Path: o.Want.Path}, late: g.w.isOver(o.ID), more: o.Want.TellMore}
			g.locks[o.ID] = l
			g.move(o.ID, l, messages.StateCreating)
			g.create(o.ID, l)
		case relay.Tell:
			g.command(o.ID, o.Command)
		case relay.Answer:
			a := g.w.asks[index(o.To)]
			g.w.post(&a.process, func() { a.hear(g, o.Reply) })
		}
	}
}

// index gives the requester that an address stands for.
func index(id messages.ActorID) int {
	var i int
	_, _ = fmt.Sscanf(id.ID, "%d", &i)
	return i
}

func (g *gate) take(from int, r relay.Request) {
	g.perform(g.table.Request(g.instant(), g, messages.ActorID{ID: fmt.Sprint(from)}, r))
}
