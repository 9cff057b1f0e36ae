package main

import (
	"sync"
	"time"
)

const (
	// samplePause is the pause between two looks at a holder's lease.
	samplePause = 2 * time.Millisecond
	// stoodStill is longer than the looks of a process that runs are apart.
	stoodStill = 100 * time.Millisecond
)

// keeping is a lock while a worker holds it.
type keeping struct {
	w     *worker
	lock  int
	mode  mode
	token int64
	hold  hold

	mu        sync.Mutex
	confirmed int64 // the last instant at which the lease was seen to be valid; 0: none
	deadline  int64 // until when it is valid if nothing else ends it; as read last; 0: not known
}

// keep holds for a while, writing to the resource, and reports the end.
func (w *worker) keep(lock int, m mode, h hold, call, at int64) (token int64, err error) {
	k := &keeping{w: w, lock: lock, mode: m, token: h.Token(), hold: h}
	valid := k.look()
	grant := report{Kind: kindGrant, Mode: m, Node: h.Node(), Call: call, At: at, Confirmed: k.lastSeen()}
	if err := k.tell(grant); err != nil {
		return k.token, err
	}
	stopSampling := k.sample()
	err = k.use(valid, at+int64(w.length()))
	stopSampling()
	if err != nil {
		return k.token, err
	}
	if !k.look() {
		return k.token, k.lost()
	}
	return k.token, k.tell(report{Kind: kindEnd, Confirmed: k.lastSeen(), At: now()})
}

// use writes to the resource, time and again, while the lease is valid and nothing tells the worker to end.
func (k *keeping) use(valid bool, until int64) error {
	commits := k.commits()
	for ; valid && now() < until && !k.w.gate.hushed(); valid = k.look() {
		if k.mode == exclusive {
			if err := k.write(); err != nil {
				return err
			}
		}
		if commits {
			if err := k.commit(); err != nil {
				return err
			}
			commits = false
		}
		select {
		case <-k.hold.Done():
		case <-time.After(time.Duration(k.w.rng.Int64N(int64(k.w.o.holdMax/3 + time.Millisecond)))):
		}
	}
	return nil
}

func (k *keeping) tell(r report) error {
	r.Lock, r.Token = k.lock, k.token
	return k.w.tell(r)
}

// sample looks at the lease all the time, so that its end is known well, until the function that it returns is
// called or the lease is over.
func (k *keeping) sample() (stop func()) {
	stopped := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
		ticks := time.NewTicker(samplePause)
		defer ticks.Stop()
		for k.look() {
			select {
			case <-ticks.C:
			case <-stopped:
				return
			}
		}
	})
	return func() {
		close(stopped)
		sampling.Wait()
	}
}

// look asks whether the lease is valid. The clock is read before: if it is, it was at that instant.
func (k *keeping) look() bool {
	before, deadline := now(), deadlineInstant(k.hold)
	if !k.hold.Valid() {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if before > k.confirmed {
		k.confirmed, k.deadline = before, deadline
	}
	return true
}

func (k *keeping) lastSeen() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.confirmed
}

// write writes to the resource, sometimes late. When it is refused it looks at the lease again.
func (k *keeping) write() error {
	if k.w.rng.IntN(lateEvery) == 0 {
		time.Sleep(time.Duration(k.w.rng.Int64N(int64(lateMost))))
	}
	if err := k.tell(report{Kind: kindWrite, Call: now(), Confirmed: k.lastSeen()}); err != nil {
		return err
	}
	var said answer
	if err := k.w.to.receive(&said); err != nil {
		return err
	}
	if said.OK {
		return nil
	}
	again := report{Kind: kindRecheck}
	if at := now(); k.hold.Valid() {
		again.Confirmed = at
	}
	return k.tell(again)
}

// lost reports that the lease is over without having been given back, and then writes and commits once more as one
// that does not look.
func (k *keeping) lost() error {
	end := report{Kind: kindEnd, Confirmed: k.lastSeen(), At: now()}
	if k.ranOut(end.At) {
		end.Confirmed = max(end.Confirmed, k.deadline)
	}
	select {
	case <-k.hold.Done():
		end.Told = true
	case <-time.After(time.Second):
	}
	if err := k.tell(end); err != nil || k.mode != exclusive {
		return err
	}
	if err := k.write(); err != nil {
		return err
	}
	return k.commit()
}

// ranOut reports whether the lease ran out while this process stood still: then it was valid until its deadline,
// for nothing else could end it meanwhile.
func (k *keeping) ranOut(at int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.deadline != 0 && k.deadline <= at && at-k.confirmed >= int64(stoodStill)
}
