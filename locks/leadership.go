package locks

import (
	"context"
	"slices"
	"sync"
)

// Leadership is a term of office: a lease. It ends as leases do; see Lease.
type Leadership struct {
	*Lease
	value string
}

// Value is what was campaigned with.
func (l *Leadership) Value() string { return l.value }

// Resign ends the term, and the next one in the queue leads. Its errors are those of Lease.Unlock.
func (l *Leadership) Resign(ctx context.Context) error { return l.Unlock(ctx) }

// terms are the terms of Run that have begun and not ended.
type terms struct {
	mu   sync.Mutex
	open []*Leadership
}

func (t *terms) begin(term *Leadership) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, term)
}

func (t *terms) end(term *Leadership) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(open *Leadership) bool { return open == term })
}

func (t *terms) all() []*Leadership {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.open)
}
