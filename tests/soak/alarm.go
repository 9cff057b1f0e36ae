package main

import (
	"sync"
	"time"
)

// alarm ends the pauses of workers.
type alarm struct {
	mu    sync.Mutex
	rung  chan struct{}
	ended bool
}

func newAlarm() *alarm { return &alarm{rung: make(chan struct{})} }

// pause lasts for d, or until ring.
func (a *alarm) pause(d time.Duration) {
	a.mu.Lock()
	rung := a.rung
	a.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-rung:
	case <-timer.C:
	}
}

// ring ends all pauses that have begun.
func (a *alarm) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	close(a.rung)
	a.rung = make(chan struct{})
}

// end ends all pauses, also those to come.
func (a *alarm) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		close(a.rung)
		a.ended = true
	}
}
