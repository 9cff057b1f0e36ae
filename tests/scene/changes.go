package scene

import (
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// Changes has the changes that WithOnChange was told.
type Changes struct {
	// All are the changes, in order. Read it when no more come.
	All []locks.Change
	// Slow is the time that the listener takes for each.
	Slow time.Duration

	mu sync.Mutex
}

// Hear is the listener.
func (h *Changes) Hear(c locks.Change) {
	time.Sleep(h.Slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.All = append(h.All, c)
}

// Kinds gives the kinds of the changes, in order.
func (h *Changes) Kinds() (kinds []locks.ChangeKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.All {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}
