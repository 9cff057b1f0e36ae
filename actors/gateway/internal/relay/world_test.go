package relay_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// world is a simulation in virtual time: gateways with sessions at one model of an ensemble, requesters on other nodes,
// and a network between them that loses, doubles and delays. Everything follows from the seed.
type world struct {
	random *rand.Rand
	now    time.Duration // real time, which no node can read
	events events
	newest int
	zk     *ensemble
	gates  []*gate
	asks   []*ask
	faults bool // the network is bad
	// forwards: requests are sent to an actor that forwards each to any gateway, as one of a cluster may
	forwards bool
	broken   []string
	grants   int
	unused   time.Duration // for which the lock was held by requests that began when nobody wanted it any more
	waits    int           // how often an owner was told whom its request waits for
	known    int           // how many owners knew it when the faults were over
	shared   sharedCounts
	story    []string
}

// timeout is the session timeout of the model.
const timeout = 10 * time.Second

// event is something that happens at a time, to a process; nil for one that is nobody's.
type event struct {
	at     time.Duration
	order  int
	to     *process
	happen func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].order, e[j].order)) < 0
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// process is a node. It has a clock of its own, and may be stopped or killed.
type process struct {
	offset time.Duration // of its clock
	drift  float64       // by how much it goes faster
	paused bool
	woke   time.Duration // when it was last paused no more
	dead   bool
	held   []event // what has come while it was paused
}

func (p *process) clock(now time.Duration) time.Duration {
	return p.offset + time.Duration(float64(now)*(1+p.drift))
}

func (w *world) newProcess() process {
	offset := time.Duration(1 + w.random.Int64N(int64(9*time.Hour)))
	return process{offset: offset, drift: (w.random.Float64()*2 - 1) / 1000}
}

// after has something happen to a process once d has passed.
func (w *world) after(d time.Duration, to *process, happen func()) {
	w.newest++
	heap.Push(&w.events, event{at: w.now + d, order: w.newest, to: to, happen: happen})
}

// post brings a message over the network.
func (w *world) post(to *process, happen func()) {
	delay := time.Duration(w.random.Int64N(int64(5 * time.Millisecond)))
	copies := 1
	if w.faults {
		switch w.random.IntN(10) {
		case 0, 1:
			copies = 0
		case 2:
			copies = 2
		case 3:
			delay = time.Duration(w.random.Int64N(int64(3 * timeout)))
		}
	}
	for range copies {
		w.after(delay, to, happen)
		delay += time.Duration(w.random.Int64N(int64(timeout)))
	}
}

// pause stops a process for a while: what comes meanwhile waits.
func (w *world) pause(p *process, d time.Duration) {
	if p.paused || p.dead {
		return
	}
	p.paused = true
	w.after(d, nil, func() {
		p.paused, p.woke = false, w.now
		held := p.held
		p.held = nil
		for _, ev := range held {
			w.after(0, p, ev.happen)
		}
	})
}

// run lets everything happen that happens before a time.
func (w *world) run(until time.Duration) {
	for len(w.events) > 0 && w.events[0].at <= until {
		ev := heap.Pop(&w.events).(event)
		if w.heldForNobody() {
			w.unused += ev.at - w.now
		}
		w.now = ev.at
		switch {
		case ev.to != nil && ev.to.dead:
			continue
		case ev.to != nil && ev.to.paused:
			ev.to.held = append(ev.to.held, ev)
			continue
		}
		ev.happen()
		w.witness()
	}
	w.now = until
}

func (w *world) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%12v ", w.now)+fmt.Sprintf(format, args...))
}

// witness looks from outside: whose lease is valid by its own clock, and whether the ensemble agrees.
func (w *world) witness() {
	var valid []*ask
	for _, a := range w.asks {
		if _, broken := a.broken(); a.valid() && !broken {
			valid = append(valid, a)
		}
	}
	if len(valid) > 1 {
		w.fault("%d leases are valid: %s and %s", len(valid), valid[0].name, valid[1].name)
	}
	for _, a := range valid {
		if !w.zk.first(a.relay.ID()) {
			w.fault("%s has a valid lease, and is not first in the ensemble", a.name)
		}
	}
}

func (w *world) fault(format string, args ...any) {
	if len(w.broken) == 0 {
		w.tell("BROKEN: "+format, args...)
		w.broken = append(w.broken, fmt.Sprintf(format, args...))
	}
}

// ensemble is a model of ZooKeeper with one lock path.
type ensemble struct {
	w       *world
	queue   []znode
	zxid    int64
	gone    map[string]time.Duration  // when nodes were deleted, by their names
	changed time.Duration             // when the queue last changed
	broken  map[request]time.Duration // when an operator deleted nodes
	crowded time.Duration             // until when there was more than one node
}

// request is a request at one gateway. Copies of it may come to others.
type request struct {
	id      string
	gateway uint64
}

type znode struct {
	id   string // of the request
	of   *gate
	zxid int64
}

func (z *ensemble) first(id string) bool { return len(z.queue) > 0 && z.queue[0].id == id }

// name is the name of a node, which no other one has.
func (n znode) name() string { return fmt.Sprint("n-", n.zxid) }

func (z *ensemble) create(id string, of *gate) {
	z.zxid++
	delete(z.broken, request{id, of.number})
	z.queue = append(z.queue, znode{id, of, z.zxid})
	z.changed = z.w.now
	z.grant()
	z.watch(len(z.queue) - 1)
	head := z.queue[0]
	z.w.after(time.Millisecond, &head.of.process, func() { head.of.contended(head.id) })
}

// operate has an operator delete the first node of the queue. Its session is told so.
func (z *ensemble) operate() {
	if len(z.queue) == 0 {
		return
	}
	head := z.queue[0]
	z.w.tell("an operator deletes the node of %s", head.id)
	z.broken[request{head.id, head.of.number}] = z.w.now
	z.remove(func(n znode) bool { return n == head })
	z.w.after(time.Millisecond, &head.of.process, func() { head.of.broken(head.id) })
}

func (z *ensemble) remove(gone func(znode) bool) {
	before := map[string]string{}
	if len(z.queue) > 1 {
		z.crowded = z.w.now
	}
	for i, n := range z.queue {
		before[n.name()] = z.before(i)
		if gone(n) {
			z.gone[n.name()], z.changed = z.w.now, z.w.now
		}
	}
	z.queue = slices.DeleteFunc(z.queue, gone)
	z.grant()
	for i, n := range z.queue {
		if z.before(i) != before[n.name()] {
			z.watch(i)
		}
	}
}

// before gives the node before one in the queue; "" for the first.
func (z *ensemble) before(i int) string {
	if i == 0 {
		return ""
	}
	return z.queue[i-1].name()
}

// watch has a waiter learn which node is before its own.
func (z *ensemble) watch(i int) {
	n, before := z.queue[i], z.before(i)
	if before != "" {
		z.w.after(time.Millisecond, &n.of.process, func() { n.of.learn(n, before) })
	}
}

// grant tells the first in the queue; more than once does no harm.
func (z *ensemble) grant() {
	if len(z.queue) == 0 {
		return
	}
	head := z.queue[0]
	z.w.after(time.Millisecond, &head.of.process, func() { head.of.turn(head.id, head.zxid) })
}

var _ relay.Lease = (*gate)(nil)

// heldForNobody reports whether the lock is held by a request that began when its requester had gone on without it.
func (w *world) heldForNobody() bool {
	if len(w.zk.queue) == 0 {
		return false
	}
	head := w.zk.queue[0]
	l := head.of.locks[head.id]
	return l != nil && l.late && l.holds() && !head.of.dead
}

// asker gives the requester of an attempt.
func (w *world) asker(id string) *ask {
	number, _, _ := strings.Cut(id, "/")
	return w.asks[index(messages.ActorID{ID: number})]
}

// isOver reports whether the requester of an attempt has ended in order, or has left the attempt.
func (w *world) isOver(id string) bool {
	a := w.asker(id)
	return !a.dead && (a.ended != nil || a.relay.ID() != id)
}
