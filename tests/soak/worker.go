package main

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

const (
	// hungGrace bounds the time after the end of its context within which a call must return, by
	// the clock of the running process.
	hungGrace = 20 * time.Second
	// One Lock in soonEvery has the patience of at most soonMost.
	soonEvery = 8
	soonMost  = 300 * time.Millisecond
	// One hold in longEvery lasts about a session timeout, so that faults strike holders.
	longEvery = 60
	// Of the holds of calm workers it is one in calmLongEvery.
	calmLongEvery = 3
	// One write in lateEvery comes up to lateMost after the worker looked at its lease.
	lateEvery = 4
	lateMost  = 10 * time.Millisecond
	// A calm worker pauses for up to shortPause, or up to longPause session timeouts, and asks for another lock than
	// its own once in strayEvery.
	shortPause = 100 * time.Millisecond
	longPause  = 4
	strayEvery = 5
)

// worker locks one lock after the other.
type worker struct {
	o       options
	me      holder
	peer    peer
	to      *line
	gate    *gate
	clock   *running
	alarm   *alarm
	calm    bool          // it pauses between requests
	long    *atomic.Int64 // until when every second hold lasts about a session timeout
	entries int           // that it has begun to write into journals
	rng     *rand.Rand
}

func newWorker(c *client, me holder, to *line) *worker {
	place := uint64(me.Client)<<32 | uint64(me.Incarnation)<<16 | uint64(me.Worker)
	return &worker{o: c.o, me: me, peer: c.peer, to: to, gate: c.gate, clock: c.clock,
		alarm: c.alarm, long: &c.long, calm: c.o.calmClient(me.Client), rng: rand.New(rand.NewPCG(c.o.seed, place))}
}

// run goes on until the gate is stopped. It returns the error of the connection to the controller.
func (w *worker) run() error {
	if err := w.tell(report{Kind: kindWorker}); err != nil {
		return err
	}
	for w.rest(); w.gate.enter(); w.rest() {
		err := w.round()
		w.gate.leave()
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) tell(r report) error {
	r.From = w.me
	return w.to.send(r)
}

// round is one request from its beginning to its end.
func (w *worker) round() error {
	lock := w.choose()
	want := w.o.want(lock, w.rng)
	patience, soon := w.patience()
	call := now()
	if err := w.tell(report{Kind: kindAsk, Lock: lock, Call: call}); err != nil {
		return err
	}
	got, returned := w.lock(want, patience)
	switch {
	case !returned:
		return w.tell(report{Kind: kindHung, Lock: lock, Op: "lock", Call: call, At: now()})
	case got.err != nil:
		kind := errorKind(got.err)
		if soon && kind == kindDeadline {
			kind = kindPlanned
		}
		err := w.tell(report{Kind: kindFailed, Lock: lock, Op: "lock", Call: call, At: got.at, Error: kind, Detail: got.err.Error()})
		time.Sleep(10 * time.Millisecond) // lest one that fails at once fills the log
		return err
	}
	token, err := w.keep(lock, want.mode, got.hold, call, got.at)
	if err != nil {
		return err
	}
	return w.unlock(lock, token, got.hold)
}

// rest is the pause of a calm worker: every second one is short, so that a retained node is used again, and the
// others last for some session timeouts.
func (w *worker) rest() {
	switch {
	case !w.calm:
	case w.rng.IntN(2) == 0:
		w.alarm.pause(time.Duration(w.rng.Int64N(int64(shortPause))))
	default:
		w.alarm.pause(time.Duration(w.rng.Int64N(int64(longPause * w.o.session))))
	}
}

// choose draws a lock. A calm worker mostly takes the one that has its own number, so that when all of a client's
// ask at once they ask for different ones.
func (w *worker) choose() int {
	switch {
	case !w.calm:
		return w.rng.IntN(w.o.locks)
	case w.rng.IntN(strayEvery) == 0:
		return w.o.locks + w.rng.IntN(w.o.calmLocks)
	}
	return w.o.locks + w.me.Worker%w.o.calmLocks
}

// patience gives the time to wait for the lock, and whether that is meant to be too short.
func (w *worker) patience() (time.Duration, bool) {
	if w.o.peer == peerTurnstile && w.rng.IntN(soonEvery) == 0 {
		return time.Duration(w.rng.Int64N(int64(soonMost))), true
	}
	return w.o.patience, false
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
		return w.o.session/2 + time.Duration(w.rng.Int64N(int64(w.o.session)))
	}
	return w.o.holdMin + time.Duration(w.rng.Int64N(int64(w.o.holdMax-w.o.holdMin)+1))
}

// locked is a result of Lock, and its time.
type locked struct {
	hold hold
	err  error
	at   int64
}

// lock calls Lock. It returns false when that does not return: the call is then left to itself, and
// what it may get one day is given back.
func (w *worker) lock(wanted want, patience time.Duration) (locked, bool) {
	returned, abandoned := make(chan locked), make(chan struct{})
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var got locked
		got.hold, got.err = w.peer.Lock(ctx, wanted)
		got.at = now()
		select {
		case returned <- got:
		case <-abandoned:
			if got.err == nil {
				_ = got.hold.Unlock(context.Background())
			}
		}
	}()
	got, came := within(w.clock, patience+hungGrace, returned)
	if !came {
		close(abandoned)
	}
	return got, came
}

// unlock calls Unlock and tells what came of it.
func (w *worker) unlock(lock int, token int64, h hold) error {
	call, returned := now(), make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), w.o.patience)
		defer cancel()
		returned <- h.Unlock(ctx)
	}()
	err, came := within(w.clock, w.o.patience+hungGrace, returned)
	if !came {
		return w.tell(report{Kind: kindHung, Lock: lock, Token: token, Op: "unlock", Call: call, At: now()})
	}
	r := report{Kind: kindUnlocked, Lock: lock, Token: token, Op: "unlock", Call: call, At: now()}
	if err != nil {
		r.Error, r.Detail = errorKind(err), err.Error()
	}
	return w.tell(r)
}
