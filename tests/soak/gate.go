package main

import "sync"

// gate lets workers begin requests, or not.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	quiet   bool
	stopped bool
	inside  int
}

func newGate() *gate {
	g := &gate{}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// enter waits until a request may begin. It returns false when none may any more.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.quiet && !g.stopped {
		g.changed.Wait()
	}
	if !g.stopped {
		g.inside++
	}
	return !g.stopped
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.changed.Broadcast()
}

// open lets requests begin again.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.quiet = false
	g.changed.Broadcast()
}

// hush lets none begin and waits until none is under way, or the gate is open again or stopped.
func (g *gate) hush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.quiet = true
	for g.inside > 0 && g.quiet && !g.stopped {
		g.changed.Wait()
	}
}

// hushed reports whether requests are to end.
func (g *gate) hushed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.quiet || g.stopped
}

func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	g.changed.Broadcast()
}
