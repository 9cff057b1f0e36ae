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
	"github.com/turnstile-locks/turnstile/messages"
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
	accepted int // the gateway that has accepted the newest request
	holds    holds
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
	site  *site // by which it holds; nil while it does not
}

// At names gateways, in the order in which they are tried. They must have sessions with the same
// servers and chroot. One is used until it does not answer, is full, or closes. Then requests that
// wait go to the next, and locks that were held are lost when their leases run out. A new request
// begins at the gateway that has accepted the newest one. Programs that name gateways in the same
// order share cohorts of a lock, those that name them in different orders share the load.
//
// A request of an owner that holds the lock (messages.Acquire.Reentry, a downgrade) goes to the
// gateway by which it holds, and stays there for as long as it holds: no other gateway knows the
// owner of the hold. So requests of one owner must be made by one Gateways.
func At(pids ...*actor.PID) *Gateways {
	return &Gateways{pids: slices.Clone(pids), requests: map[uint64]*held{}, holds: holds{},
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

// hold notes by which gateway a request holds.
func (g *Gateways) hold(epoch uint64, of ownedLock, at location) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil && r.site == nil {
		r.site = g.holds.add(of, at)
	}
}

// letGo: a request holds no more.
func (g *Gateways) letGo(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil {
		g.drop(r)
	}
}

// drop takes out the hold of a request; g.mu is held.
func (g *Gateways) drop(r *held) {
	if r.site != nil {
		g.holds.remove(r.site)
		r.site = nil
	}
}

// holder gives the gateway by which an owner holds.
func (g *Gateways) holder(of ownedLock) (at location, holds bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holds.of(of)
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
		g.drop(r)
	}
	delete(g.requests, epoch)
	if g.idle != nil && len(g.requests) == 0 {
		close(g.idle)
		g.idle = nil
	}
}

// close takes no more requests. It gives the requests that have not ended, and a channel that is
// closed when they have.
func (g *Gateways) close() (open []*actor.PID, ended <-chan struct{}) {
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
		open = append(open, r.pid)
	}
	return open, g.idle
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
// now. again: what it found before does not answer. It is called on a goroutine of its own, and may
// take its time: requests that wait for it are sent when it returns.
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

// sought names a look: its path, and whether what was found before does not answer.
type sought struct {
	path  string
	again bool
}

// look is one call of the finder. Invariant: once it is late nobody waits for it.
type look struct {
	waits []func(*actor.PID)
	late  bool // its time is over, and the finder has not returned
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
		at = &look{waits: []func(*actor.PID){then}}
		l.running[what] = at
		go l.run(what, at)
	case at.late:
		go then(nil)
	default:
		at.waits = append(at.waits, then)
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

// tell gives the answer to all that wait for a look, once.
func (l *looks) tell(at *look, found *actor.PID) {
	l.mu.Lock()
	waits := at.waits
	at.waits, at.late = nil, true
	l.mu.Unlock()
	for _, then := range waits {
		then(found)
	}
}

// ownedLock names the lock that an owner has or wants.
type ownedLock struct {
	owner, path, name string
	contest           bool
}

// ownedLockOf gives the ownedLock of a request whose Owner is set; false for a semaphore, where
// owners mean nothing.
func ownedLockOf(want messages.Acquire) (ownedLock, bool) {
	return ownedLock{want.Owner, want.Path, want.Name, want.Mode == messages.Contest}, want.Mode != messages.Semaphore
}

// location names the gateway that a request is at: by its number where it was named, by its address
// where it was found.
type location struct {
	gateway int
	found   *actor.PID // that has accepted the request; nil for one that is named
}

func (l location) equal(o location) bool {
	if l.found == nil || o.found == nil {
		return l.found == o.found && l.gateway == o.gateway
	}
	return l.found.Equal(o.found)
}

// site is a gateway by which an owner holds a lock. All its requests that hold there share it.
type site struct {
	of       ownedLock
	at       location
	requests int
}

// holds has the sites of owners that hold, the newest last. An owner that does not hold has no
// entry.
type holds map[ownedLock][]*site

// add adds a request that holds, and gives its site.
func (h holds) add(of ownedLock, at location) *site {
	for _, s := range h[of] {
		if s.at.equal(at) {
			s.requests++
			return s
		}
	}
	s := &site{of: of, at: at, requests: 1}
	h[of] = append(h[of], s)
	return s
}

// remove: one request of a site holds no more.
func (h holds) remove(s *site) {
	if s.requests--; s.requests > 0 {
		return
	}
	left := slices.DeleteFunc(h[s.of], func(o *site) bool { return o == s })
	if len(left) == 0 {
		delete(h, s.of)
		return
	}
	h[s.of] = left
}

// of gives the newest gateway by which an owner holds.
func (h holds) of(c ownedLock) (at location, is bool) {
	sites := h[c]
	if len(sites) == 0 {
		return location{}, false
	}
	return sites[len(sites)-1].at, true
}
