package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

const (
	// One Lock in soonEvery has the patience of at most soonMost.
	soonEvery = 8
	soonMost  = 300 * time.Millisecond
	// One hold in longEvery lasts about a session timeout, so that faults strike holders; of calm workers one in
	// calmLongEvery.
	longEvery     = 60
	calmLongEvery = 3
	// One write in lateEvery comes up to lateMost after the worker looked at its lease.
	lateEvery = 4
	lateMost  = 10 * time.Millisecond
	// A calm worker pauses for up to shortPause, or up to longPause session timeouts, and asks for another lock than
	// its own once in strayEvery.
	shortPause = 100 * time.Millisecond
	longPause  = 4
	strayEvery = 5
	// samplePause is the pause between two looks at a holder's lease.
	samplePause = 2 * time.Millisecond
	// stoodStill is longer than the looks of a process that runs are apart.
	stoodStill = 100 * time.Millisecond

	semaphorePermits = 2
	cohortGrants     = 4
)

// lockKind is the use of a lock path. One busy lock in eight is a read/write lock, one a semaphore, and two are held in
// cohorts; every second calm lock is sticky.
type lockKind uint8

const (
	mutexKind     lockKind = iota
	stickyKind             // a mutex whose node is retained for a session timeout after Unlock
	readWriteKind          // one request in three is a writer's
	semaphoreKind
	cohortKind // a mutex whose node serves several grants in a row
)

func (o options) kindOf(lock int) lockKind {
	switch {
	case lock >= o.Locks && (lock-o.Locks)%2 == 0:
		return stickyKind
	case lock >= o.Locks:
	case lock%8 == 2:
		return readWriteKind
	case lock%8 == 5:
		return semaphoreKind
	case lock%8 == 7 || lock%8 == 0:
		return cohortKind
	}
	return mutexKind
}

// worker locks one lock after the other.
type worker struct {
	*client
	number int
	calm   bool // it pauses between requests
	rng    *rand.Rand
}

func newWorker(c *client, number int) *worker {
	place := uint64(c.Client)<<32 | uint64(c.Incarnation)<<16 | uint64(number)
	return &worker{c, number, c.calmClient(c.Client), rand.New(rand.NewPCG(c.Seed, place))}
}

// run goes on until the process is to end.
func (w *worker) run() {
	for w.ctx.Err() == nil {
		w.rest()
		w.gate.RLock()
		if w.ctx.Err() == nil {
			w.round()
		}
		w.gate.RUnlock()
	}
}

// upTo draws a duration below d.
func (w *worker) upTo(d time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

// rest is the pause of a calm worker: every second one is short, so that a retained node is used again, and the
// others last for some session timeouts.
func (w *worker) rest() {
	switch {
	case !w.calm:
	case w.rng.IntN(2) == 0:
		w.pause(w.upTo(shortPause))
	default:
		w.pause(w.upTo(longPause * w.Session))
	}
}

// round is one request from its beginning to its end.
func (w *worker) round() {
	lock := w.choose()
	patience := w.Patience
	if w.rng.IntN(soonEvery) == 0 {
		patience = w.upTo(soonMost)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h := &holding{worker: w, report: report{From: holder{Worker: w.number}, Lock: lock, Call: now()}}
	h.say(kindAsk)
	if err := h.lock(ctx); err != nil {
		w.failed(h.report, err)
		time.Sleep(10 * time.Millisecond) // lest one that fails at once fills the log
		return
	}
	h.keep()
	ctx, cancel = context.WithTimeout(context.Background(), w.Patience)
	defer cancel()
	_ = h.lease.Unlock(ctx) // it may be lost
}

// choose draws a lock. A calm worker mostly takes the one that has its own number, so that when all of a client's
// ask at once they ask for different ones.
func (w *worker) choose() int {
	switch {
	case !w.calm:
		return w.rng.IntN(w.Locks)
	case w.rng.IntN(strayEvery) == 0:
		return w.Locks + w.rng.IntN(w.CalmLocks)
	}
	return w.Locks + w.number%w.CalmLocks
}

// length gives the time to hold.
func (w *worker) length() time.Duration {
	every := longEvery
	if w.calm {
		every = calmLongEvery
	}
	if now() < w.long.Load() {
		every = 2
	}
	if w.rng.IntN(every) == 0 {
		return w.Session/2 + w.upTo(w.Session)
	}
	return w.Hold/25 + w.upTo(w.Hold)
}

// holding is a request, and the lock that it was granted.
type holding struct {
	*worker
	report // what is the same in all reports on it
	lease  *locks.Lease

	mu       sync.Mutex // guards Confirmed and what follows
	deadline int64      // until when the lease is valid if nothing else ends it, as read last
}

// lock asks for the lock. In one client of four the calls share what they can share. In the others each has an observer, and
// so a hold of its own.
func (h *holding) lock(ctx context.Context) (err error) {
	var opts []locks.LockOption
	if h.Client%4 != 3 {
		opts = append(opts, locks.WithObserver(h.observer))
	}
	path := lockPath(h.Lock)
	switch h.kindOf(h.Lock) {
	case semaphoreKind:
		h.Mode = permit
		h.lease, err = h.peer.Semaphore(path, semaphorePermits, opts...).Acquire(ctx, 1)
		return err
	case readWriteKind:
		if h.rng.IntN(3) != 0 {
			h.Mode = reading
			h.lease, err = h.peer.RWMutex(path, opts...).RLock(ctx)
			return err
		}
		h.lease, err = h.peer.RWMutex(path, opts...).Lock(ctx)
		return err
	case cohortKind:
		opts = append(opts, locks.WithCohort(cohortGrants))
	case stickyKind:
		opts = append(opts, locks.WithSticky(h.Session))
	}
	h.lease, err = h.peer.Mutex(path, opts...).Lock(ctx)
	return err
}

// say reports, with the last instant at which the lease was valid for certain.
func (h *holding) say(kind string) {
	h.mu.Lock()
	r := h.report
	h.mu.Unlock()
	r.Kind = kind
	h.tell(r)
}

// keep holds for a while, writing to the resource, and reports the end.
func (h *holding) keep() {
	h.At, h.Token = now(), int64(h.lease.Token())
	until := h.At + int64(h.length())
	valid := h.look()
	h.say(kindGrant)
	stopped := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() { // so that the end of the lease is known well
		ticks := time.NewTicker(samplePause)
		defer ticks.Stop()
		for h.look() {
			select {
			case <-ticks.C:
			case <-stopped:
				return
			}
		}
	})
	for ; valid && now() < until && !h.quiet.Load(); valid = h.look() {
		h.write()
		select {
		case <-h.lease.Context().Done():
		case <-time.After(h.upTo(h.Hold / 3)):
		}
	}
	close(stopped)
	sampling.Wait()
	valid = h.look()
	if h.At = now(); valid {
		h.say(kindEnd)
		return
	}
	// One that ran out while this process stood still was valid until its deadline: nothing else could end it meanwhile.
	if h.deadline <= h.At && h.At-h.Confirmed >= int64(stoodStill) {
		h.Confirmed = max(h.Confirmed, h.deadline)
	}
	select {
	case <-h.lease.Context().Done():
		h.Told = true
	case <-time.After(time.Second):
	}
	h.say(kindEnd)
	h.write() // as one that does not look
}

// look asks whether the lease is valid. The clock is read before: if it is, it was at that instant.
func (h *holding) look() bool {
	before := now()
	deadline := before + int64(time.Until(h.lease.Deadline())) // time that passes in between makes it earlier, never later
	if !h.lease.Valid() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if before > h.Confirmed {
		h.Confirmed, h.deadline = before, deadline
	}
	return true
}

// write writes to the resource, sometimes late.
func (h *holding) write() {
	if h.Mode != "" {
		return // others hold at the same time
	}
	if h.rng.IntN(lateEvery) == 0 {
		time.Sleep(h.upTo(lateMost))
	}
	h.say(kindWrite)
}
