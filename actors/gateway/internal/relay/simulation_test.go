package relay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// ask is a requester with its lease.
type ask struct {
	process
	w      *world
	number int
	name   string
	relay  *relay.Requester
	until  time.Duration // of the lease, by its own clock
	leased bool
	by     *gate // the gateway that has accepted it; nil before any has
	ended  any   // the last notice
	state  messages.State
	woken  int
	// before is the node that its owner was told it waits for, "" for none; begun is when its request began there to wait.
	before string
	begun  time.Time
	share  share
}

func newAsk(w *world, number int, want messages.Acquire) *ask {
	a := &ask{process: w.newProcess(), w: w, number: number, name: fmt.Sprintf("requester %d", number)}
	want.TellMore = w.random.IntN(2) == 0
	a.share.more = want.TellMore
	places := len(w.gates)
	if w.forwards {
		places = 2
	}
	a.relay = relay.NewRequester(fmt.Sprint(number), places, want)
	return a
}

func (a *ask) instant() relay.Instant { return relay.Instant(a.clock(a.w.now)) }

func (a *ask) valid() bool { return a.leased && !a.dead && a.clock(a.w.now) < a.until }

func (a *ask) hear(from *gate, r relay.Reply) {
	if a.ended != nil {
		for _, o := range relay.Afterwards(r) {
			dismiss := o.(relay.Dismiss).Request
			a.w.post(&from.process, func() { from.take(a.number, dismiss) })
		}
		return
	}
	before := a.relay.Accepted()
	out := a.relay.Reply(a.instant(), r)
	if !before && a.relay.Accepted() {
		a.by = from
	}
	a.perform(from, out)
}

// to gives the gateway that gets a sending: the one at the address by then, or any gateway where
// sendings are forwarded, until one has accepted the request.
func (a *ask) to(at int, r relay.Request) *gate {
	switch {
	case !a.w.forwards:
		return a.w.gates[at]
	case r.Gateway != 0 && a.by != nil:
		return a.by
	}
	return a.w.gates[a.w.random.IntN(len(a.w.gates))]
}

// gone judges an end that says that the gateway has forgotten the request.
func (a *ask) gone() {
	if a.by == nil || a.by.dead {
		return
	}
	if _, there := a.by.table.Promised(a.by.instant())[a.relay.ID()]; there {
		a.w.fault("%s is lost, and %s has it", a.name, a.by.name)
	}
}

func (a *ask) wish(w relay.Wish) {
	if a.ended == nil && !a.dead {
		a.leased = false // an owner that gives it back does not rely on it any more
		a.perform(nil, a.relay.Wish(a.instant(), w, messages.ReasonNone))
	}
}

func (a *ask) perform(from *gate, out []relay.Output) {
	for _, o := range out {
		switch o := o.(type) {
		case relay.Send:
			at, r := o.Gateway, o.Request
			a.w.post(nil, func() {
				g := a.to(at, r)
				a.w.after(0, &g.process, func() { g.take(a.number, r) })
			})
		case relay.Dismiss:
			r := o.Request
			a.w.post(&from.process, func() { from.take(a.number, r) })
		case relay.WaitFor:
			a.before = o.Predecessor.Node
			a.w.waits++
			a.w.tell("%s: waits for %q", a.name, a.before)
		case relay.Extend:
			a.until = time.Duration(o.Until)
		case relay.EndLease:
			a.leased = false
		case relay.Say:
			a.say(o.Notice)
		case relay.End:
		}
	}
	a.checkPredecessor()
	a.schedule()
}

// checkPredecessor: the node that the owner is told of was there when its request began to wait, or after that.
func (a *ask) checkPredecessor() {
	left, gone := a.w.zk.gone[a.before]
	if gone && a.state == messages.StateWatching && left < time.Duration(a.begun.UnixNano()) {
		a.w.fault("%s waits for %s, which was gone before it began to wait", a.name, a.before)
	}
}

func (a *ask) schedule() {
	a.woken++
	mine := a.woken
	if a.ended != nil {
		return
	}
	left := time.Duration(float64(time.Duration(a.relay.Due())-a.clock(a.w.now)) / (1 + a.drift))
	a.w.after(max(left, 0)+time.Microsecond, &a.process, func() {
		if a.woken == mine && a.ended == nil {
			a.perform(nil, a.relay.Wake(a.instant()))
		}
	})
}

func (a *ask) say(notice any) {
	a.w.tell("%s: %T %+v", a.name, notice, notice)
	a.hearShared(notice)
	switch n := notice.(type) {
	case *messages.Transition:
		if n.From != a.state {
			a.w.fault("%s goes from %v, and was %v", a.name, n.From, a.state)
		}
		a.state = n.To
		if n.To == messages.StateCreating { // as package locks does
			a.before, a.begun = "", n.At
		}
	case *messages.Held:
		a.leased = true
		a.w.grants++
		if a.share.more {
			a.use()
			return
		}
		a.w.after(time.Duration(a.w.random.Int64N(int64(2*timeout))), &a.process, func() { a.wish(relay.Release) })
	case *messages.Released, *messages.Lost, *messages.Cancelled, *messages.Failed:
		if a.ended != nil {
			a.w.fault("%s ends twice", a.name)
		}
		if lost, is := n.(*messages.Lost); is && lost.Reason == messages.ReasonHoldGone {
			a.gone()
		}
		a.ended = notice
	}
}

// simulate plays one history. The world that it returns has the first violation.
func simulate(seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 18)), faults: true}
	w.zk = &ensemble{w: w, gone: map[string]time.Duration{}, broken: map[request]time.Duration{}}
	w.forwards = w.random.IntN(3) == 0
	for i := range 1 + w.random.IntN(2) {
		w.gates = append(w.gates, newGate(w, fmt.Sprintf("gateway %d", i)))
	}
	for i := range 2 + w.random.IntN(5) {
		want := messages.Acquire{Path: "/lock"}
		if w.random.IntN(4) == 0 {
			want.Timeout = time.Duration(1 + w.random.Int64N(int64(6*timeout)))
		}
		a := newAsk(w, i, want)
		w.asks = append(w.asks, a)
		w.after(time.Duration(w.random.Int64N(int64(3*timeout))), &a.process, func() {
			a.perform(nil, a.relay.Begin(a.instant()))
		})
		if w.random.IntN(4) == 0 {
			w.after(time.Duration(w.random.Int64N(int64(10*timeout))), &a.process, func() { a.wish(relay.Cancel) })
		}
	}
	for range w.random.IntN(8) {
		w.after(time.Duration(w.random.Int64N(int64(10*timeout))), nil, w.strike)
	}
	for range 3 { // which wait when the faults are over
		a := newAsk(w, len(w.asks), messages.Acquire{Path: "/lock"})
		w.asks = append(w.asks, a)
		w.after(9*timeout+time.Duration(w.random.Int64N(int64(5*timeout))), &a.process, func() {
			a.perform(nil, a.relay.Begin(a.instant()))
		})
	}
	w.run(10 * timeout)
	w.faults = false
	for _, g := range w.gates {
		g.cut = false
	}
	for after := 13; after <= 25; after++ { // no process is paused any more
		w.run(time.Duration(after) * timeout)
		w.waitersKnow()
		w.askersKnow()
	}
	for _, a := range w.asks {
		w.after(0, &a.process, func() { a.wish(relay.Release) })
	}
	w.run(40 * timeout)
	w.settled()
	return w
}

// waitersKnow: when the last fault is over each owner knows the node before that of its request, unless that has changed
// a moment ago.
func (w *world) waitersKnow() {
	if w.now-w.zk.changed < time.Second {
		return
	}
	for i, n := range w.zk.queue {
		a := w.asker(n.id)
		if a.dead || a.ended != nil || a.relay.ID() != n.id || a.state != messages.StateWatching {
			continue
		}
		w.known++
		if a.before != w.zk.before(i) {
			w.fault("%s waits for %q, and was told %q", a.name, w.zk.before(i), a.before)
		}
	}
}

// strike is a fault.
func (w *world) strike() {
	g, a := w.gates[w.random.IntN(len(w.gates))], w.asks[w.random.IntN(len(w.asks))]
	for_ := time.Duration(w.random.Int64N(int64(3 * timeout)))
	if w.random.IntN(2) == 0 { // the lease outlasts it
		for_ /= 6
	}
	switch w.random.IntN(8) {
	case 7:
		w.zk.operate()
	case 0:
		w.tell("%s is cut from the ensemble for %v", g.name, for_)
		g.cut = true
		w.after(for_, nil, func() { g.cut = false })
	case 1:
		w.tell("%s is paused for %v", g.name, for_)
		w.pause(&g.process, for_)
	case 2:
		w.tell("%s is paused for %v", a.name, for_)
		w.pause(&a.process, for_)
	case 3:
		w.tell("%s is killed", a.name)
		a.dead = true
	case 4:
		w.tell("%s restarts", g.name)
		w.restart(g)
	case 5:
		w.tell("%s stops listening to its own session for %v: all is delayed", g.name, for_)
		w.pause(&g.process, for_/10)
	case 6:
		w.tell("%s closes", g.name)
		w.close(g)
	}
}

// close ends a gateway in order, and starts another in its place: its session ends when nothing is
// promised any more.
func (w *world) close(g *gate) {
	g.perform(g.table.Close())
	w.after(timeout/16, &g.process, func() {
		switch {
		case !g.table.Closed(g.instant()):
			w.close(g)
		case g.cut: // nobody can be told: the session expires
			w.restart(g)
		default:
			w.zk.remove(func(n znode) bool { return n.of == g })
			w.restart(g)
		}
	})
}

// restart kills a gateway, and starts another in its place, with a session of its own.
func (w *world) restart(g *gate) {
	old := *g
	old.dead = true
	for i, n := range w.zk.queue {
		if n.of == g {
			w.zk.queue[i].of = &old
		}
	}
	w.after(max(0, g.expires-w.now), nil, func() { w.zk.remove(func(n znode) bool { return n.of == &old }) })
	fresh := newGate(w, g.name+"'")
	for i := range w.gates {
		if w.gates[i] == g {
			w.gates[i] = fresh
		}
	}
	g.dead = true
	g.epoch++
}

// settled: nothing is held for ever, and no node is left.
func (w *world) settled() {
	for _, a := range w.asks {
		if a.ended == nil && !a.dead {
			w.fault("%s has not ended: %v", a.name, a.relay.State())
		}
	}
	if len(w.zk.queue) > 0 {
		w.fault("nodes are left: %v", w.zk.queue[0].id)
	}
	for _, g := range w.gates {
		if most := g.table.Limits(); g.table.Remembered() > 2*most.Ended {
			w.fault("%s remembers %d requests, and %d are too many", g.name, g.table.Remembered(), 2*most.Ended)
		}
		if n := g.table.Size(); n > 0 {
			w.fault("%s has %d requests left", g.name, n)
		}
	}
}

// TestSimulation: an outside witness never sees two valid leases, and in the end nothing is left.
// TURNSTILE_GATEWAY_SEEDS says how many histories, TURNSTILE_GATEWAY_SEED which one to tell.
func TestSimulation(t *testing.T) {
	if one := os.Getenv("TURNSTILE_GATEWAY_SEED"); one != "" {
		seed, err := strconv.ParseUint(one, 10, 64)
		require.NoError(t, err)
		w := simulate(seed)
		t.Log("\n" + strings.Join(w.story, "\n"))
		require.Empty(t, w.broken)
		return
	}
	seeds, grants, waits, known, unused, shared := uint64(1000), 0, 0, 0, time.Duration(0), sharedCounts{}
	if all := os.Getenv("TURNSTILE_GATEWAY_SEEDS"); all != "" {
		n, err := strconv.ParseUint(all, 10, 64)
		require.NoError(t, err)
		seeds = n
	}
	for seed := range seeds {
		w := simulate(seed)
		require.Empty(t, w.broken, "seed %d", seed)
		grants += w.grants
		waits += w.waits
		known += w.known
		unused += w.unused
		shared.add(w.shared)
	}
	require.Greater(t, grants, int(seeds), "the histories grant too seldom to show anything")
	require.Greater(t, waits, 2*int(seeds), "the histories wait too seldom to show anything")
	shared.enough(t, int(seeds))
	require.Greater(t, known, int(seeds)/20, "too few wait when the faults are over")
	// A history has a third of a second more of it where nobody answers for requesters that have ended.
	require.Less(t, unused/time.Duration(seeds), 200*time.Millisecond, "the lock is held for nobody")
	t.Logf("%d histories, %d grants, the lock was held for nobody for %v", seeds, grants, unused.Round(time.Second))
	t.Logf("owners were told %d times whom they wait for; %d of %[2]d knew it when the faults were over", waits, known)
}
