package rig

import (
	"context"
	"sync"
	"time"
)

// flowDepth is the number of parcels that a flow keeps. Later ones stay with the sender, as when a
// receiver's window is full.
const flowDepth = 256

// flow is one direction of a network. It can stall and delay, and it always keeps the order of the
// bytes. The zero value carries at once.
type flow struct {
	mu    sync.Mutex
	gate  chan struct{} // nil: bytes may pass; closed by resume
	delay time.Duration

	takes, delivers func(Packet) // observers, who may be nil
}

// stall lets nothing pass until resume.
func (f *flow) stall() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gate == nil {
		f.gate = make(chan struct{})
	}
}

// resume carries on what stall held back, in order.
func (f *flow) resume() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gate != nil {
		close(f.gate)
		f.gate = nil
	}
}

// slow delays everything that is sent from now on by d.
func (f *flow) slow(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay = d
}

func (f *flow) heal() {
	f.slow(0)
	f.resume()
}

func (f *flow) stalls() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gate != nil
}

// observe has every packet of one direction told to a function, or to none: when it is delivered, or taken.
func (f *flow) observe(at *func(Packet), told func(Packet)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*at = told
}

func (f *flow) show(at *func(Packet), passing []Packet) {
	f.mu.Lock()
	told := *at
	f.mu.Unlock()
	for _, packet := range passing {
		if told != nil {
			told(packet)
		}
	}
}

func (f *flow) due() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.delay)
}

// pass waits while the flow stalls. It returns false when done has ended.
func (f *flow) pass(done context.Context) bool {
	for {
		f.mu.Lock()
		gate := f.gate
		f.mu.Unlock()
		if gate == nil {
			return done.Err() == nil
		}
		select {
		case <-gate:
		case <-done.Done():
			return false
		}
	}
}

// parcel has the bytes of one read.
type parcel struct {
	bytes []byte
	err   error
	due   time.Time
}

// stream is one connection's part of a flow.
type stream struct {
	done    context.Context        // ends when the connection is cut
	read    func() ([]byte, error) // called until it fails; its bytes are not used again
	deliver func([]byte) bool      // false: the connection has failed
	cut     func()                 // makes a read that waits return
}

// carry delivers a stream until its reads fail, or it is cut. It reports whether
// all that was read has been delivered. When it returns, nothing reads any more.
func (f *flow) carry(s stream) bool {
	parcels := make(chan parcel, flowDepth)
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() { f.collect(s, parcels) })
	for {
		select {
		case p := <-parcels:
			if !wait(s.done, p.due) || !f.pass(s.done) || len(p.bytes) > 0 && !s.deliver(p.bytes) {
				s.cut()
				return false
			}
			if p.err != nil {
				return true
			}
		case <-s.done.Done():
			s.cut()
			return false
		}
	}
}

func (f *flow) collect(s stream, parcels chan<- parcel) {
	for {
		bytes, err := s.read()
		select {
		case parcels <- parcel{bytes, err, f.due()}:
		case <-s.done.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// wait returns false when done has ended first.
func wait(done context.Context, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return done.Err() == nil
	}
	return Rest(done, left)
}
