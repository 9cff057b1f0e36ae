package gateway

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Gateways is a list of gateways, and the locks that were acquired from them. Make one with At. Its
// methods may be called from any goroutine.
type Gateways struct {
	pids []*actor.PID
	find *looks // instead of pids; nil where those are named
	// timeout is the session timeout of the gateways, as told to the newest request; zero before.
	timeout atomic.Int64

	mu       sync.Mutex
	newest   uint64
	requests map[uint64]*held
	accepted int                   // the gateway that has accepted the newest request
	holds    map[heldNode]location // of requests that hold
	closed   bool
	over     chan struct{} // closed with it
	idle     chan struct{} // closed when the last request has ended after Close; nil before
	servers  []string
	chroot   string
}

// held is a request that has not ended.
type held struct {
	clock *zkconn.LeaseClock
	pid   *actor.PID
	node  heldNode // with which it holds; the zero value while it does not
}

// At names gateways, in the order in which they are tried. They must have sessions with the same
// servers and chroot. One is used until it does not answer, is full, or closes. Then requests that
// wait go to the next, and locks that were held are lost when their leases run out. A new request
// begins at the gateway that has accepted the newest one. Programs that name gateways in the same
// order queue by one session, those that name them in different orders share the load.
//
// A downgrade (messages.Acquire.Beside) goes to the gateway by which the writer holds: no other one
// has that node. So it must be made by the same Gateways.
func At(pids ...*actor.PID) *Gateways {
	return &Gateways{pids: slices.Clone(pids), requests: map[uint64]*held{}, holds: map[heldNode]location{},
		over: make(chan struct{})}
}

// Timeout is the session timeout of the gateways; zero before one has answered a request.
func (g *Gateways) Timeout() time.Duration { return time.Duration(g.timeout.Load()) }

// begin gives the gateway with which a request begins.
func (g *Gateways) begin() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.accepted
}

// accept notes which gateway has accepted a request.
func (g *Gateways) accept(gateway int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.find == nil {
		g.accepted = gateway
	}
}

// hold notes by which gateway, and with which node, a request holds.
func (g *Gateways) hold(epoch uint64, node heldNode, at location) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil {
		r.node = node
		g.holds[node] = at
	}
}

// letGo: a request holds no more.
func (g *Gateways) letGo(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil {
		delete(g.holds, r.node)
	}
}

// holder gives the gateway by which a node is held.
func (g *Gateways) holder(node heldNode) (at location, holds bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, holds = g.holds[node]
	return at, holds
}

// count is the number of gateways among which a request may move. With a finder there is always
// another one.
func (g *Gateways) count() int {
	if g.find != nil {
		return 2
	}
	return len(g.pids)
}

// Clock is the lease clock of the grant with this messages.Held.Epoch: each grant over a gateway
// has a clock of its own, which counts the time for which the machine was suspended. The clock of a
// request that has ended is never valid.
func (g *Gateways) Clock(epoch uint64) *zkconn.LeaseClock {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil {
		return r.clock
	}
	over := zkconn.NewLeaseClock(nil)
	over.End()
	return over
}

// add adds a request; false when this side is closed.
func (g *Gateways) add(pid *actor.PID, clock *zkconn.LeaseClock) (epoch uint64, open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, false
	}
	g.newest++
	g.requests[g.newest] = &held{clock: clock, pid: pid}
	return g.newest, true
}

// remove takes a request out that has ended.
func (g *Gateways) remove(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil {
		delete(g.holds, r.node)
	}
	delete(g.requests, epoch)
	if g.idle != nil && len(g.requests) == 0 {
		close(g.idle)
		g.idle = nil
	}
}

// close takes no more requests. It gives the lock actors whose requests have not ended, and a
// channel that is closed when all have.
func (g *Gateways) close() (remaining []*actor.PID, ended <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed = true
		close(g.over)
	}
	idle := make(chan struct{})
	if len(g.requests) == 0 {
		close(idle)
		return nil, idle
	}
	if g.idle == nil {
		g.idle = idle
	}
	for _, r := range g.requests {
		remaining = append(remaining, r.pid)
	}
	return remaining, g.idle
}

// check reports whether there are gateways to ask.
func (g *Gateways) check() error {
	if g.find != nil {
		return nil
	}
	if len(g.pids) == 0 || slices.Contains(g.pids, nil) {
		return fmt.Errorf("%w: no gateway is named, or a nil one", actors.ErrBadAcquire)
	}
	return nil
}

// Finder finds a gateway, or an actor that forwards to one, for a lock path; nil when none is known
// now. again: the gateway that it found before does not answer. It is called on a goroutine of its
// own, and may take its time: requests that wait for it are sent when it returns.
//
// ctx ends after 10 s. An answer after that is dropped. Until the finder returns it is not called
// for the same path and again, so a finder that hangs keeps one goroutine, however many requests
// wait for it.
type Finder func(ctx context.Context, path string, again bool) *actor.PID

// Find gives gateways that are found when they are needed, where At gives gateways that are named.
// A request stays with the gateway that has accepted it, also where the finder finds another one
// meanwhile. When it does not answer, or closes, a waiter goes to the gateway that the finder finds
// then. Package grain has the finder for protoactor's clusters. A nil finder panics.
func Find(find Finder) *Gateways {
	if find == nil {
		panic("turnstile: gateway.Find: the finder is nil")
	}
	g := At()
	g.find = &looks{find: find, running: map[sought]*look{}}
	return g
}

// lookBound bounds the time of a look: protoactor's cluster tries for five seconds by default, and
// tries three times.
const lookBound = 10 * time.Second

// looks are the looks of a finder that are under way, one at a time for the same thing. Its methods may
// be called from any goroutine.
type looks struct {
	find Finder

	mu      sync.Mutex
	running map[sought]*look
}

// sought names a look: its path, and whether the gateway that was found before does not answer.
type sought struct {
	path  string
	again bool
}

// look is one call of the finder. Invariant: once it is late, pending is empty.
type look struct {
	pending []func(*actor.PID)
	late    bool // its time is over, and the finder has not returned
}

// look looks for a gateway, and calls then, once, on any goroutine. It joins a look that is under
// way. then gets nil where the finder takes too long.
func (l *looks) look(path string, again bool, then func(*actor.PID)) {
	what := sought{path, again}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.running[what]
	switch {
	case at == nil:
		at = &look{pending: []func(*actor.PID){then}}
		l.running[what] = at
		go l.run(what, at)
	case at.late:
		go then(nil)
	default:
		at.pending = append(at.pending, then)
	}
}

func (l *looks) run(what sought, at *look) {
	ctx, stop := context.WithTimeout(context.Background(), lookBound)
	defer stop()
	bound := time.AfterFunc(lookBound, func() { l.tell(at, nil) })
	defer bound.Stop()
	found := l.find(ctx, what.path, what.again)
	l.mu.Lock()
	delete(l.running, what)
	l.mu.Unlock()
	l.tell(at, found)
}

// tell gives the answer to all pending callers of a look, once.
func (l *looks) tell(at *look, found *actor.PID) {
	l.mu.Lock()
	pending := at.pending
	at.pending, at.late = nil, true
	l.mu.Unlock()
	for _, then := range pending {
		then(found)
	}
}

// heldNode is the contender's node with which a request holds.
type heldNode struct{ path, node string }

// location names the gateway that a request is at: by its number where it was named, by its address
// where it was found.
type location struct {
	gateway int
	found   *actor.PID // the gateway that has accepted the request; nil where gateways are named
}
