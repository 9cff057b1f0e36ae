package gateway

import (
	"fmt"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Gateways is a list of gateways, and the locks that were acquired from them. Make one with At. Its
// methods may be called from any goroutine.
type Gateways struct {
	pids []*actor.PID
	find *looks // instead of pids; nil where those are named

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
// servers and chroot. One is used until it does not answer, is full, or closes; then those who wait
// go to the next, and what was held is lost when its lease runs out. A new request begins at the
// gateway that has accepted the newest one. Programs that name gateways in the same order share
// cohorts of a lock, those that name them in different orders share the load.
//
// A request of an owner that holds the lock (messages.Acquire.Reentry, a downgrade) goes to the
// gateway by which it holds, and stays there for as long as it holds: no other gateway knows whose
// the hold is. So requests of one owner must be made by one Gateways.
func At(pids ...*actor.PID) *Gateways {
	return &Gateways{pids: slices.Clone(pids), requests: map[uint64]*held{}, holds: holds{},
		over: make(chan struct{})}
}

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
func (g *Gateways) hold(epoch uint64, of claim, at location) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[epoch]; r != nil && r.site == nil {
		r.site = g.holds.add(of, at)
	}
}

// letGo takes it that a request holds no more.
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
func (g *Gateways) holder(of claim) (at location, holds bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holds.of(of)
}

// count is among how many gateways a request may move on. Of those that are found there is always
// another one.
func (g *Gateways) count() int {
	if g.find != nil {
		return 2
	}
	return len(g.pids)
}

// Clock is the lease clock of the grant with this messages.Held.Epoch: each grant over a gateway
// has a clock of its own, which counts the time for which the machine was suspended. That of a
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

// close takes no more requests, and gives those that there are, and a channel that is closed when
// they have ended.
func (g *Gateways) close() (left []*actor.PID, ended <-chan struct{}) {
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
		left = append(left, r.pid)
	}
	return left, g.idle
}

// check tells whether there are gateways to ask.
func (g *Gateways) check() error {
	if g.find != nil {
		return nil
	}
	if len(g.pids) == 0 || slices.Contains(g.pids, nil) {
		return fmt.Errorf("%w: no gateway is named, or a nil one", actors.ErrBadAcquire)
	}
	return nil
}
