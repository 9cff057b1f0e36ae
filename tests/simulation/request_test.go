package simulation

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// lockRequest is one request for a lock, and all that was heard of it. Fields that change are guarded by
// world.mu.
type lockRequest struct {
	wish
	number int // from 1
	client *client

	// Through package locks.
	cancel   context.CancelFunc // nil for a lock actor of our own
	lease    *locks.Lease
	returned bool

	// As a lock actor of our own.
	pid   *actor.PID
	clock *zkconn.LeaseClock

	held      *messages.Held
	broken    bool // an operator has deleted the one node of its contest
	letGo     bool // we gave it back, or stopped the lock actor
	stopped   bool // the lock actor, by us
	suspended bool
	revoked   bool
	end       string // the terminal notice
	state     messages.State
	placed    string // its newest node
	session   int64  // of that node
	earlier   []placement
	polled    bool // a poll began the listing that is under way
}

// placement is a node of a session that has ended for its client.
type placement struct {
	node    string
	session int64
}

// holds reports whether the lock may be used now, by its owner's knowledge.
func (r *lockRequest) holds() bool {
	if r.cancel != nil {
		return r.lease != nil && r.lease.Valid()
	}
	return r.held != nil && r.end == "" && !r.letGo && !r.revoked && r.clock.Valid()
}

// acquired reports whether there is something to give back.
func (r *lockRequest) acquired() bool {
	if r.cancel != nil {
		return r.lease != nil && !r.letGo
	}
	return r.held != nil && r.end == "" && !r.letGo
}

// over reports whether nothing more is to come.
func (r *lockRequest) over() bool {
	return (r.end != "" || r.stopped) && (r.cancel == nil || r.returned)
}

// wish has the settings that a request is started with.
type wish struct {
	path     string // of a contest: of the one node
	mode     messages.Mode
	name     string // of the queue
	permits  int
	weight   int
	watchAll bool
	within   *lockRequest // whose lease it asks within; nil for none
	observed bool         // an actor hears all of it; else only what the lock says is known
	actor    bool
	try      bool
	timeout  time.Duration // of the ctx, or of Acquire
	grace    time.Duration
	sticky   time.Duration // how long its node may stay; zero for not at all
	cohort   int           // how many grants in a row its node may serve; zero for its own
}

// start starts a request. Its lock actor draws the GUID with the request's number meanwhile.
func (w *world) start(c *client, want wish) {
	w.mu.Lock()
	r := &lockRequest{number: len(w.requests) + 1, client: c, wish: want}
	w.requests = append(w.requests, r)
	w.mu.Unlock()
	guids.request.Store(uint32(r.number))
	defer func() {
		synctest.Wait()
		guids.request.Store(0)
	}()
	w.history.note("r%d: c%d asks for %s, by an actor %t, trying %t, within %v, grace %v",
		r.number, c.number, want, want.actor, want.try, want.timeout, want.grace)
	var watcher *actor.PID
	if want.observed {
		watcher = w.observe(r)
	}
	if want.actor {
		r.pid = w.spawn(c, want.acquire(), watcher)
		return
	}
	values := context.Background()
	if want.within != nil {
		values = context.WithoutCancel(want.within.lease.Context())
	}
	ctx, cancel := context.WithCancel(values)
	if want.timeout > 0 {
		ctx, cancel = context.WithTimeout(values, want.timeout)
	}
	r.cancel = cancel
	opts := []locks.LockOption{locks.WithGrace(want.grace), locks.WithSticky(want.sticky), locks.WithCohort(want.cohort)}
	if want.observed {
		opts = append(opts, locks.WithObserver(watcher))
	}
	go w.lock(ctx, r, want.call(c.Client, opts...))
}

// lock waits for the lock, as a program does.
func (w *world) lock(ctx context.Context, r *lockRequest, lock func(context.Context) (*locks.Lease, error)) {
	lease, err := lock(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	r.lease, r.returned = lease, true
	if err != nil {
		w.history.returned(r.number, "r%d: Lock gives %s", r.number, short(err.Error()))
	}
	if r.observed {
		return
	}
	if err != nil {
		r.end = "Refused"
		return
	}
	w.history.returned(r.number, "r%d: Lock gives %s token %v", r.number, short(lease.Node()), lease.Token())
	w.granted(r, &messages.Held{Grant: messages.Grant{Path: lease.Path(), Node: lease.Node(), Token: lease.Token()}, Until: lease.Deadline()})
	go w.follow(r)
}

// follow notes the end of a lease that nobody observes.
func (w *world) follow(r *lockRequest) {
	<-r.lease.Context().Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.letGo || r.end != "" {
		return
	}
	r.end = "Lost"
	w.history.returned(r.number, "r%d: its lease has ended", r.number)
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
		err := r.lease.Unlock(ctx)
		if err != nil {
			w.history.returned(r.number, "r%d: Unlock gives %s", r.number, short(err.Error()))
		}
		if !r.observed {
			w.mu.Lock()
			r.end = "Unlocked"
			w.mu.Unlock()
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
