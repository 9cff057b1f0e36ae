package embedded

import (
	"context"
	"fmt"
	"slices"
)

// Injection is a fault that was put in place.
type Injection struct {
	e       *ensemble
	fault   Fault
	skip    int
	left    int // negative: for ever
	hits    int
	hit     chan struct{} // closed by the first
	holding []*output
}

// matches counts, so it is asked once for each request.
func (i *Injection) matches(r Request) bool {
	f := i.fault
	if i.left == 0 || f.Op != 0 && f.Op != r.Op || f.Session != 0 && f.Session != r.Session {
		return false
	}
	if f.Path != "" && !slices.ContainsFunc(r.Paths, f.names) {
		return false
	}
	if i.skip > 0 {
		i.skip--
		return false
	}
	if i.left > 0 {
		i.left--
	}
	return true
}

// Hits is how often it has happened.
func (i *Injection) Hits() int {
	i.e.mu.Lock()
	defer i.e.mu.Unlock()
	return i.hits
}

// Wait waits until it has happened once.
func (i *Injection) Wait(ctx context.Context) error {
	select {
	case <-i.hit:
		return nil
	default:
	}
	select {
	case <-i.hit:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("embedded: waiting for %v on %q: %w", i.fault.Op, i.fault.Path, context.Cause(ctx))
	}
}

// Release sends the replies that HoldReplies has kept.
func (i *Injection) Release() {
	i.e.mu.Lock()
	defer i.e.mu.Unlock()
	for _, out := range i.holding {
		out.hold(-1)
	}
	i.holding = nil
}

// Remove takes the fault away. Replies that it has kept stay kept until Release.
func (i *Injection) Remove() {
	i.e.mu.Lock()
	defer i.e.mu.Unlock()
	i.e.faults = slices.DeleteFunc(i.e.faults, func(have *Injection) bool { return have == i })
}
