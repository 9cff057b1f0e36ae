package readme

import (
	"bytes"
	"sync"
)

// watched keeps what a command prints, and tells when a text is in it.
type watched struct {
	until string
	seen  chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
	told bool
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	if !w.told && bytes.Contains(w.text.Bytes(), []byte(w.until)) {
		w.told = true
		close(w.seen)
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
