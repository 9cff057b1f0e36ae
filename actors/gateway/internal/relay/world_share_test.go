package relay_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// share is what the owner of a hold that several callers share has been told of it. It has one
// after the other hold in its place, by the rules of package turns.
type share struct {
	more                              bool // it asked for TellMore
	held, suspended, resumed, watched bool
	since                             time.Duration // Held, or the last Resumed
	inUse, wanted, leaves             bool
	proved                            time.Duration // when the node was known to be there, by its own clock
	grants                            int
	check, contention                 time.Duration // when they were asked for; zero for no ask
	looks                             bool          // it is to be told of contenders
}

// sharedCounts count what the histories show of it.
type sharedCounts struct {
	grants    int // further ones on a hold
	checked   int // checks that were answered
	contended int
	again     int // Watched after Resumed
}

func (c *sharedCounts) add(o sharedCounts) {
	c.grants += o.grants
	c.checked += o.checked
	c.contended += o.contended
	c.again += o.again
}

// enough checks that the histories show something.
func (c *sharedCounts) enough(t *testing.T, seeds int) {
	t.Logf("shared holds: %+v", *c)
	require.Greater(t, c.grants, seeds/2)
	require.Greater(t, c.checked, seeds/4)
	require.Greater(t, c.contended, seeds/10)
	require.Greater(t, c.again, seeds/20)
}

// hearShared takes a notice, and judges whether it may come now.
func (a *ask) hearShared(notice any) {
	s, w := &a.share, a.w
	switch notice.(type) {
	case *messages.Held:
		s.held, s.since = true, w.now
	case *messages.Suspended:
		a.judge(s.held && !s.suspended, notice)
		s.suspended, s.watched, s.check, s.contention = true, false, 0, 0
	case *messages.Resumed:
		a.judge(s.held && s.suspended, notice)
		s.suspended, s.resumed, s.since = false, true, w.now
		if s.looks {
			w.after(0, &a.process, a.look)
		}
	case *messages.Waiting:
		a.judge(s.more && !s.held, notice)
	case *messages.Watched:
		a.judge(s.more && s.held && !s.suspended && !s.watched, notice)
		s.watched = true
		if s.resumed {
			w.shared.again++
		}
	case *messages.Checked:
		a.judge(s.check > 0, notice)
		if gone, is := a.broken(); is && gone < s.check {
			w.fault("%s asked at %v, and its node was deleted at %v: it is told Checked", a.name, s.check, gone)
		}
		s.check, s.proved = 0, a.clock(w.now)
		w.shared.checked++
	case *messages.Contended:
		a.judge(s.contention > 0, notice)
		if len(w.zk.queue) < 2 && w.zk.crowded < s.contention {
			w.fault("%s asked at %v, and nobody was in the queue since: it is told Contended", a.name, s.contention)
		}
		s.contention, s.looks, s.leaves = 0, false, true
		w.shared.contended++
	}
	if s.more {
		w.after(0, &a.process, a.next)
	}
}

// judge checks that a notice may come now.
func (a *ask) judge(may bool, notice any) {
	if !may {
		a.w.fault("%s is told %T: %+v", a.name, notice, a.share)
	}
}

// use has a caller hold for a while, and another one want to after that.
func (a *ask) use() {
	s, w := &a.share, a.w
	s.inUse, s.wanted = true, false
	s.grants++
	s.proved = a.clock(w.now)
	w.after(time.Duration(w.random.Int64N(int64(timeout/4))), &a.process, func() {
		s.inUse, s.proved = false, a.clock(w.now)
		if s.grants == 1 && w.random.IntN(2) == 0 {
			s.looks = true
			a.look()
		}
		w.after(time.Duration(w.random.Int64N(int64(timeout/2))), &a.process, func() {
			s.wanted = true
			a.next()
		})
	})
}

// look asks to be told of contenders.
func (a *ask) look() {
	if s := &a.share; a.ended == nil && a.valid() && !s.suspended {
		s.contention = a.w.now
		a.perform(nil, a.relay.Ask(a.instant(), relay.WatchContention))
	}
}

// next has the next caller hold, once that may be.
func (a *ask) next() {
	s, w := &a.share, a.w
	switch {
	case a.ended != nil || !a.valid() || !s.wanted || s.inUse || s.suspended || !s.watched || s.check > 0:
	case s.leaves || s.grants == 4:
		a.wish(relay.Release)
	case a.clock(w.now)-s.proved >= timeout/6:
		s.check = w.now
		a.perform(nil, a.relay.Ask(a.instant(), relay.Check))
	default:
		w.shared.grants++
		// The gateway notices within a beat that its session is cut, and the requester within two sendings
		// that it hears nothing. A requester that was paused a moment ago has not looked yet.
		if gone, is := a.broken(); is && w.now-gone > timeout/6+timeout/3+20*time.Millisecond && a.woke < w.now {
			w.fault("the next caller of %s holds, and the node was deleted at %v", a.name, gone)
		}
		a.use()
	}
}

// broken gives when an operator has deleted its node.
func (a *ask) broken() (at time.Duration, is bool) {
	if a.by == nil {
		return 0, false
	}
	at, is = a.w.zk.broken[request{a.relay.ID(), a.by.number}]
	return at, is
}

// askersKnow: when the last fault is over, owners are answered.
func (w *world) askersKnow() {
	const soon = timeout / 4
	for _, a := range w.asks {
		s := &a.share
		switch {
		case !s.more || !a.valid() || s.suspended:
		case !s.watched && w.now-s.since > soon:
			w.fault("%s holds since %v, and is not told Watched", a.name, s.since)
		case s.check > 0 && w.now-s.check > soon:
			w.fault("%s asked for a check at %v, and has no answer", a.name, s.check)
		case s.contention > 0 && len(w.zk.queue) > 1 && w.now-max(w.zk.changed, s.contention) > soon:
			w.fault("%s is not told of the contender behind it", a.name)
		}
	}
}

// checkLinks suspends the holds of a session that is cut off, and resumes them when it is not.
func (g *gate) checkLinks() {
	for _, id := range slices.Sorted(maps.Keys(g.locks)) {
		l := g.locks[id]
		switch down := g.cut || g.expires < 0; {
		case down && l.state == messages.StateHeld:
			g.suspend(id, l)
		case !down && l.suspended():
			g.w.after(time.Millisecond, &g.process, func() { g.resume(id, l) })
		}
	}
}

func (g *gate) suspend(id string, l *lockModel) {
	l.links++
	l.contention = false
	g.move(id, l, messages.StateRecovering)
	g.told(id, &messages.Suspended{Grant: l.grant})
}

// resume goes on with a hold whose node is there.
func (g *gate) resume(id string, l *lockModel) {
	switch {
	case g.locks[id] != l || !l.suspended() || g.cut || g.expires < 0:
	case !g.w.zk.has(id):
		g.lose(id, l, messages.ReasonNodeDeleted)
	default:
		g.move(id, l, messages.StateHeld)
		g.told(id, &messages.Resumed{Grant: l.grant})
		g.watchOwn(id, l)
	}
}

// later has a lock actor do something in a while, if it holds and was not suspended by then.
func (g *gate) later(id string, l *lockModel, most time.Duration, do func()) {
	links := l.links
	g.w.after(time.Duration(g.w.random.Int64N(int64(most))), &g.process, func() {
		if g.locks[id] == l && l.state == messages.StateHeld && l.links == links {
			do()
		}
	})
}

// watchOwn watches the node of a holder.
func (g *gate) watchOwn(id string, l *lockModel) {
	g.later(id, l, timeout/100, func() {
		switch {
		case !l.more:
		case g.cut:
			g.watchOwn(id, l)
		case !g.w.zk.has(id):
			g.lose(id, l, messages.ReasonNodeDeleted)
		default:
			g.told(id, &messages.Watched{Grant: l.grant, Readable: true})
		}
	})
}

// check has a transaction check the node of a holder.
func (g *gate) check(id string, l *lockModel) {
	l.check++
	number := l.check
	g.later(id, l, timeout/100, func() {
		switch {
		case l.check != number: // asked for anew
		case g.cut || g.expires < 0: // nobody knows
			g.suspend(id, l)
		case !g.w.zk.has(id):
			g.lose(id, l, messages.ReasonNodeDeleted)
		default:
			g.told(id, &messages.Checked{Grant: l.grant})
		}
	})
}

func (g *gate) watchContention(id string, l *lockModel) {
	if l.state == messages.StateHeld {
		l.contention = true
		g.later(id, l, timeout/100, func() { g.contended(id) })
	}
}

// contended tells a holder that looks for contenders of one.
func (g *gate) contended(id string) {
	l := g.locks[id]
	switch {
	case l == nil || !l.contention || l.state != messages.StateHeld || len(g.w.zk.queue) < 2:
	case g.cut:
		g.later(id, l, timeout/12, func() { g.contended(id) })
	default:
		l.contention = false
		g.told(id, &messages.Contended{Grant: l.grant})
	}
}

// broken takes the event that an operator has deleted the node of a request.
func (g *gate) broken(id string) {
	l := g.locks[id]
	switch {
	case l == nil || g.w.zk.has(id):
	case g.cut:
		g.w.after(timeout/12, &g.process, func() { g.broken(id) })
	case l.holds():
		g.lose(id, l, messages.ReasonNodeDeleted)
	case l.state == messages.StateWatching:
		g.move(id, l, messages.StateCreating)
		g.create(id, l)
	}
}
