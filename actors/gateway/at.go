package gateway

import (
	"fmt"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Gateways are the gateways that a program asks for locks, and the locks that it has by them. Make
// one with At. Its methods may be called from any goroutine.
type Gateways struct {
	pids []*actor.PID
	find Finder // instead of pids; nil where those are named

	mu       sync.Mutex
	first    int // of pids: the one that has answered last
	newest   uint64
	requests map[uint64]*held
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
}

// At names gateways, in the order in which they are tried. They must have sessions with the same
// servers and chroot. One is used until it does not answer, or closes; then those who wait go to
// the next, and what was held is lost when its lease runs out. New requests begin with the one that has
// answered last.
func At(pids ...*actor.PID) *Gateways {
	return &Gateways{pids: slices.Clone(pids), requests: map[uint64]*held{}, over: make(chan struct{})}
}

// Finder finds a gateway, or an actor that forwards to one, for a lock path; nil when none is known now.
// again: what it found before does not answer. It is called on a goroutine of its own, and may take its
// time: what waits for it is sent then.
type Finder func(path string, again bool) *actor.PID

// Find gives gateways that are found when they are needed, as At gives those that are named. A request
// stays with the gateway that has accepted it, also where the finder finds another one meanwhile. When
// it does not answer, or closes, a waiter is sent to what the finder finds then. Package grain has the
// finder for protoactor's clusters.
func Find(find Finder) *Gateways {
	g := At()
	g.find = find
	return g
}

// begin is with which of the gateways that are named a request begins.
func (g *Gateways) begin() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first
}

// answered notes which of them has answered.
func (g *Gateways) answered(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first = n
}

// places is among how many gateways a request may move on. Of those that are found there is always
// another one.
func (g *Gateways) places() int {
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
	g.requests[g.newest] = &held{clock, pid}
	return g.newest, true
}

// remove takes a request out that has ended.
func (g *Gateways) remove(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
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
