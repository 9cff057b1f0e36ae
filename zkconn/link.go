package zkconn

import "sync"

// link knows the newest transport, so that others than the library can cut it.
type link struct {
	mu      sync.Mutex
	current *transport
	closed  bool
}

// adopt makes t the newest; not once the link was closed. The library leaves the connection open that told it of an
// expiry: whatever came before t is cut.
func (l *link) adopt(t *transport) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.cutLocked()
	l.current = t
	return true
}

// close refuses further transports and cuts one that has no session yet; one that has is left for the library to say
// goodbye on.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.current != nil && !l.current.established.Load() {
		l.cutLocked()
	}
}

// drop refuses further transports and cuts the one that there is.
func (l *link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.cutLocked()
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cutLocked()
}

// do has the newest transport do something, if there is one.
func (l *link) do(something func(*transport)) {
	l.mu.Lock()
	current := l.current
	l.mu.Unlock()
	if current != nil {
		something(current)
	}
}

func (l *link) cutLocked() {
	if l.current != nil {
		_ = l.current.Close()
	}
}
