package child

import "sync"

// tailLimit bounds the output that is remembered, in bytes.
const tailLimit = 64 << 10

// Tail is a writer that remembers the end of the text written to it, for messages of failure.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailLimit; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// String returns what is remembered.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
