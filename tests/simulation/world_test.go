package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// world is one run of a plan.
type world struct {
	plan    plan
	history *history
	server  *embedded.Server
	net     *network
	system  *actor.ActorSystem
	clients []*client
	latency *rand.Rand // what the plan does not say: in which order, and after how long, frames flow

	mu        sync.Mutex // for the fields that actors and goroutines write; the driver takes it when they may run
	requests  []*lockRequest
	observers []*actor.PID
	tokens    map[string]granted // the newest of a queue
	fresh     []*lockRequest     // that were granted since the queue was looked at
	broken    map[string]bool    // nodes that an operator has deleted
	brokenBy  map[string]int64   // the zxids of their ends
	violation string             // the first
}

// client is one client with its session.
type client struct {
	*locks.Client
	number     int
	timeout    time.Duration
	closing    bool
	closed     chan error
	lostEvents int
	untold     int64 // grants of permits that a poll found, behind one that could not tell, see behindTheDead
	grants     int
	zxid       int64 // the newest of an answer
}

// newWorld starts the server and opens the clients.
func newWorld(p plan) (*world, error) {
	w := &world{plan: p, history: newHistory(),
		latency: rand.New(rand.NewPCG(p.seed, 0x6c6174656e6379)),
		tokens:  map[string]granted{}, broken: map[string]bool{}, brokenBy: map[string]int64{}, system: sharedSystem(),
	}
	var err error
	w.server, err = embedded.Start(embedded.WithoutNetwork(), embedded.WithTick(p.tick), embedded.WithSyncLimit(p.syncLimit),
		embedded.WithReplicas(p.replicas))
	if err != nil {
		return nil, err
	}
	w.net = newNetwork(w.server, w.history)
	w.net.passed = w.passed
	for i, timeout := range p.timeouts {
		if err := w.open(i+1, timeout); err != nil {
			return w, err
		}
	}
	return w, nil
}

// sharedSystem is the actor system of all runs. It has no goroutine, channel or timer that outlives a run, and
// making one costs as much as all the rest of a run.
var sharedSystem = sync.OnceValue(func() *actor.ActorSystem {
	silence := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	return actor.NewActorSystem(actor.WithLoggerFactory(silence), actor.WithDeadLetterThrottleInterval(100*time.Millisecond))
})

func (w *world) open(number int, timeout time.Duration) error {
	c := &client{number: number, timeout: timeout, closed: make(chan error, 1)}
	opts := []locks.Option{locks.WithDialer(w.net.dialer(number)), locks.WithSessionTimeout(timeout),
		locks.WithActorSystem(w.system), locks.WithReconnectBackoff(10*time.Millisecond, 500*time.Millisecond)}
	var err error
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		const variable = "TURNSTILE_WITHOUT" // what is set for all stays
		all := os.Getenv(variable)
		defer os.Setenv(variable, all)
		os.Setenv(variable, all+","+w.plan.without[number-1])
		c.Client, err = locks.Open(ctx, "simulation:2181", opts...)
	}()
	w.flowUntil(opened, time.Minute)
	if err != nil {
		return fmt.Errorf("client %d: %w", number, err)
	}
	w.clients = append(w.clients, c)
	return nil
}

// passed is called for every frame that is delivered.
func (w *world) passed(l *link, d direction, it item) {
	if i := l.client - 1; d == down && it.answers && i < len(w.clients) {
		w.mu.Lock()
		w.clients[i].zxid = max(w.clients[i].zxid, it.zxid)
		w.mu.Unlock()
	}
}

// violated notes that an invariant does not hold; the first counts. w.mu is held.
func (w *world) violated(format string, args ...any) {
	if w.violation == "" {
		w.violation = fmt.Sprintf(format, args...)
		w.history.note("VIOLATION: %s", w.violation)
	}
}

// flow lets time pass, and delivers everything as it comes, in any order that keeps the order of
// each direction.
func (w *world) flow(d time.Duration) { w.flowUntil(nil, d) }

// flowUntil is flow that ends when done is closed.
func (w *world) flowUntil(done <-chan struct{}, d time.Duration) bool {
	for until := time.Now().Add(d); ; {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
		}
		left := time.Until(until)
		if left <= 0 {
			return false
		}
		if w.deliverAny() {
			w.rest()
			continue
		}
		timer := time.NewTimer(left)
		select {
		case <-w.net.changed:
		case <-timer.C:
		case <-done:
		}
		timer.Stop()
	}
}

// rest lets a little time pass, so that what comes next is not due at the same instant as what was.
func (w *world) rest() { time.Sleep(time.Duration(1+w.latency.IntN(300_000)) * time.Nanosecond) }

// deliverAny delivers one frame, or lets one client connect.
func (w *world) deliverAny() bool {
	dials, places := w.net.pendingDials(), w.net.waiting()
	n := len(dials) + len(places)
	if n == 0 {
		return false
	}
	if i := w.latency.IntN(n); i < len(dials) {
		w.net.answer(dials[i], w.latency.IntN(w.plan.replicas))
	} else {
		w.net.deliver(places[i-len(dials)])
	}
	w.check()
	return true
}

// check looks for holders who exclude each other, for leases that outlive their request, and for grants out of order.
func (w *world) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	holders := map[string][]*lockRequest{}
	for _, r := range w.requests {
		if !r.holds() {
			continue
		}
		if r.end != "" {
			w.violated("the lease of r%d is valid after %s", r.number, r.end)
		}
		if w.brokenGrant(r) {
			continue
		}
		for _, other := range holders[r.queue()] {
			if r.excludes(other) {
				w.violated("two holders of %s: r%d and r%d", r.queue(), other.number, r.number)
			}
		}
		holders[r.queue()] = append(holders[r.queue()], r)
	}
	for queue, all := range holders {
		w.checkPermits(queue, all)
	}
	w.checkOrder()
}
