package main

import "time"

// keeping is a lock while a worker holds it.
type keeping struct {
	w         *worker
	lock      int
	token     int64
	hold      hold
	confirmed int64 // an instant at which the lease was valid; 0: none
	deadline  int64 // until when it is valid if nothing else ends it; as read last; 0: not known
}

// keep holds for a while, writing to the resource, and reports the end.
func (w *worker) keep(lock int, h hold, call, at int64) (token int64, err error) {
	k := &keeping{w: w, lock: lock, token: h.Token(), hold: h}
	valid := k.look()
	if err := k.tell(report{Kind: kindGrant, Call: call, At: at, Confirmed: k.confirmed}); err != nil {
		return k.token, err
	}
	for until := at + int64(w.length()); valid && now() < until; valid = k.look() {
		if err := k.write(); err != nil {
			return k.token, err
		}
		select {
		case <-h.Done():
		case <-time.After(time.Duration(w.rng.Int64N(int64(w.o.holdMax/3 + time.Millisecond)))):
		}
	}
	if !valid {
		return k.token, k.lost()
	}
	return k.token, k.tell(report{Kind: kindEnd, Confirmed: k.confirmed, At: now()})
}

func (k *keeping) tell(r report) error {
	r.Lock, r.Token = k.lock, k.token
	return k.w.tell(r)
}

// look asks whether the lease is valid. The clock is read before: if it is, it was at that instant.
func (k *keeping) look() bool {
	before, deadline := now(), deadlineInstant(k.hold)
	if !k.hold.Valid() {
		return false
	}
	k.confirmed, k.deadline = before, deadline
	return true
}

// write writes to the resource, sometimes late. When it is refused it looks at the lease again.
func (k *keeping) write() error {
	if k.w.rng.IntN(lateEvery) == 0 {
		time.Sleep(time.Duration(k.w.rng.Int64N(int64(lateMost))))
	}
	if err := k.tell(report{Kind: kindWrite, Call: now(), Confirmed: k.confirmed}); err != nil {
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

// lost reports that the lease is over without having been given back, and then writes once more as one
// that does not look.
func (k *keeping) lost() error {
	end := report{Kind: kindEnd, Confirmed: k.confirmed, At: now()}
	if k.deadline != 0 && k.deadline <= end.At {
		// It ran out, perhaps while this process stood still: until then it was valid.
		end.Confirmed = max(end.Confirmed, k.deadline)
	}
	select {
	case <-k.hold.Done():
		end.Told = true
	case <-time.After(time.Second):
	}
	if err := k.tell(end); err != nil {
		return err
	}
	return k.write()
}
