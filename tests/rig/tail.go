package rig

import (
	"cmp"
	"sync"
)

// tailLimit bounds the output that is remembered, in bytes, where there is no other bound.
const tailLimit = 64 << 10

// Tail is a writer that remembers the end of the text written to it, for messages of failure.
type Tail struct {
	Limit int // bytes that are remembered; 64 KiB when zero

	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if limit := cmp.Or(t.Limit, tailLimit); len(t.text) > 2*limit {
		t.text = append(t.text[:0], t.text[len(t.text)-limit:]...)
	}
	return len(p), nil
}

// String returns what is remembered.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text[max(0, len(t.text)-cmp.Or(t.Limit, tailLimit)):])
}
