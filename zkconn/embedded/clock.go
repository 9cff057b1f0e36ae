package embedded

import (
	"sync"
	"time"
)

// Clock is a server's source of time: for the times in a Stat, for sessions that expire, for silent
// connections and for nodes that are reaped.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once when d has passed, unless it is stopped before. f must not be called before
	// AfterFunc has returned.
	AfterFunc(d time.Duration, f func()) (stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// ManualClock stands still until a test moves it. Several servers may share one.
type ManualClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer // in no order
	made   int
}

type manualTimer struct {
	at     time.Time
	number int // of two timers that are due at once, the smaller number goes first
	run    func()
}

// NewManualClock gives a clock that shows a time.
func NewManualClock(start time.Time) *ManualClock { return &ManualClock{now: start} }

// Now is the time that the clock shows.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc makes Advance call f when the clock has been moved by d.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	timer := &manualTimer{at: c.now.Add(d), number: c.made, run: f}
	c.timers = append(c.timers, timer)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.remove(timer)
	}
}

// Advance moves the clock on by d. Timers that fall due on the way run in order, each with the
// clock at its time, on the caller's goroutine, before Advance returns. The clock never goes back,
// not for a negative d, and not when several goroutines move it at once.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		next := c.due(end)
		if next == nil {
			break
		}
		c.forward(next.at)
		c.remove(next)
		c.mu.Unlock()
		next.run()
		c.mu.Lock()
	}
	c.forward(end)
	c.mu.Unlock()
}

func (c *ManualClock) forward(to time.Time) {
	if to.After(c.now) {
		c.now = to
	}
}

// due is the first timer until the end, or nil.
func (c *ManualClock) due(end time.Time) (first *manualTimer) {
	for _, t := range c.timers {
		if t.at.After(end) {
			continue
		}
		if first == nil || t.at.Before(first.at) || t.at.Equal(first.at) && t.number < first.number {
			first = t
		}
	}
	return first
}

func (c *ManualClock) remove(timer *manualTimer) {
	for i, t := range c.timers {
		if t == timer {
			c.timers = append(c.timers[:i], c.timers[i+1:]...)
			return
		}
	}
}
