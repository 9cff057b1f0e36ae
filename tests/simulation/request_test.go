package simulation

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// lockRequest is one request for a lock, and all that was heard of it. What changes is guarded by world.mu.
type lockRequest struct {
	number int // from 1
	client *client
	path   string

	// Through package locks.
	cancel   context.CancelFunc // nil for a lock actor of our own
	lease    *locks.Lease
	returned bool

	// As a lock actor of our own.
	pid   *actor.PID
	clock *zkconn.LeaseClock

	held      *messages.Held
	letGo     bool // we gave it back, or stopped the lock actor
	stopped   bool // the lock actor, by us
	suspended bool
	revoked   bool
	end       string // the terminal notice
	state     messages.State
	polled    time.Time // when a poll began the listing that is under way; zero when none did
}

// holds tells whether the lock may be used now, by what its owner can know.
func (r *lockRequest) holds() bool {
	if r.cancel != nil {
		return r.lease != nil && r.lease.Valid()
	}
	return r.held != nil && r.end == "" && !r.letGo && !r.revoked && r.clock.Valid()
}

// acquired tells whether there is something to give back.
func (r *lockRequest) acquired() bool {
	if r.cancel != nil {
		return r.lease != nil && !r.letGo
	}
	return r.held != nil && r.end == "" && !r.letGo
}

// over tells whether nothing more is to come.
func (r *lockRequest) over() bool {
	return (r.end != "" || r.stopped) && (r.cancel == nil || r.returned)
}

// wish is what a request is started with.
type wish struct {
	path    string
	actor   bool
	try     bool
	timeout time.Duration // of the ctx, or of Acquire
	grace   time.Duration
}

// start starts a request. Its lock actor draws the GUID with the request's number meanwhile.
func (w *world) start(c *client, want wish) {
	w.mu.Lock()
	r := &lockRequest{number: len(w.requests) + 1, client: c, path: want.path}
	w.requests = append(w.requests, r)
	w.mu.Unlock()
	guids.number.Store(uint32(r.number))
	w.history.note("r%d: c%d asks for %s, by an actor %t, trying %t, within %v, grace %v",
		r.number, c.number, r.path, want.actor, want.try, want.timeout, want.grace)
	watcher := w.observe(r)
	if want.actor {
		acquire := messages.Acquire{Path: r.path, Try: want.try, Timeout: want.timeout, Grace: want.grace}
		r.pid = w.spawn(c, acquire, watcher)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if want.timeout > 0 {
		ctx, cancel = context.WithTimeout(context.Background(), want.timeout)
	}
	r.cancel = cancel
	go w.lock(ctx, r, c.Mutex(r.path, locks.WithGrace(want.grace), locks.WithObserver(watcher)), want.try)
}

// lock waits for the lock, as a program does.
func (w *world) lock(ctx context.Context, r *lockRequest, mutex *locks.Mutex, try bool) {
	lock := mutex.Lock
	if try {
		lock = mutex.TryLock
	}
	lease, err := lock(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	r.lease, r.returned = lease, true
	if err != nil {
		w.history.returned(r.number, "r%d: Lock gives %s", r.number, short(err.Error()))
	}
}

// giveBack releases what a request has.
func (w *world) giveBack(r *lockRequest, within time.Duration) {
	w.mu.Lock()
	r.letGo = true
	w.mu.Unlock()
	w.history.note("r%d: is given back", r.number)
	if r.cancel == nil {
		w.system.Root.Send(r.pid, &messages.Release{})
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	go func() {
		defer cancel()
		if err := r.lease.Unlock(ctx); err != nil {
			w.history.returned(r.number, "r%d: Unlock gives %s", r.number, short(err.Error()))
		}
	}()
}

// giveUp cancels a request that does not hold.
func (w *world) giveUp(r *lockRequest) {
	w.history.note("r%d: is cancelled", r.number)
	if r.cancel != nil {
		r.cancel()
		return
	}
	w.mu.Lock()
	r.letGo = true
	w.mu.Unlock()
	w.system.Root.Send(r.pid, &messages.Cancel{})
}
