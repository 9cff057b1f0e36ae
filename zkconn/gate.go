package zkconn

import "sync"

// gate lets operations in until it is shut, and knows when the last of them has left.
type gate struct {
	mu     sync.Mutex
	reason error // why it is shut; nil while it is open
	inside sync.WaitGroup
	shut   chan struct{}
}

func newGate() *gate { return &gate{shut: make(chan struct{})} }

// enter fails with the reason when the gate is shut. After success the caller must call leave.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return g.reason
	}
	g.inside.Add(1)
	return nil
}

func (g *gate) leave() { g.inside.Done() }

// close shuts the gate; the first reason stands.
func (g *gate) close(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason == nil {
		g.reason = reason
		close(g.shut)
	}
}

// why gives the reason, nil while the gate is open.
func (g *gate) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason
}

func (g *gate) isShut() bool { return g.why() != nil }

// wait returns when everybody has left; the gate must be shut.
func (g *gate) wait() { g.inside.Wait() }
