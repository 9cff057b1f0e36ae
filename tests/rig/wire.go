package rig

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// wire carries bytes between two members in the way of a network that can be
// cut or fall silent. It does not know what passes, but for the first message
// of a connection, which prelude may change.
type wire struct {
	listener net.Listener
	target   string
	prelude  func(from net.Conn) ([]byte, error) // nil: nothing to change
	running  sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	refusing bool
	gate     chan struct{} // closed while bytes may pass
	strands  map[*strand]struct{}
}

// strand is one connection through a wire.
type strand struct {
	dialed net.Conn
	done   context.Context
	cancel context.CancelFunc

	mu  sync.Mutex
	far net.Conn
}

func newWire(target string) (*wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("rig: listen for a wire: %w", err)
	}
	w := &wire{listener: listener, target: target, gate: make(chan struct{}), strands: map[*strand]struct{}{}}
	close(w.gate)
	return w, nil
}

// run starts to take connections.
func (w *wire) run() { w.running.Go(w.accept) }

func (w *wire) port() int { return w.listener.Addr().(*net.TCPAddr).Port }

func (w *wire) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		done, cancel := context.WithCancel(context.Background())
		s := &strand{dialed: conn, done: done, cancel: cancel}
		w.mu.Lock()
		admitted := !w.closed && !w.refusing
		if admitted {
			w.strands[s] = struct{}{}
		}
		w.mu.Unlock()
		if !admitted {
			cancel()
			_ = conn.Close()
			continue
		}
		w.running.Go(func() { w.carry(s) })
	}
}

// carry joins both ends until one of them closes, or the wire is cut.
func (w *wire) carry(s *strand) {
	defer func() {
		s.cut()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.strands, s)
	}()
	if w.silent() {
		// A silent network takes no new connection: what was sent into this one was never sent.
		w.pass(s)
		return
	}
	far, err := new(net.Dialer).DialContext(s.done, "tcp", w.target)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.far = far
	s.mu.Unlock()
	if s.done.Err() != nil {
		return // cut while dialing
	}
	var back sync.WaitGroup
	back.Go(func() { w.copy(s, s.dialed, far); s.cut() })
	if w.greet(s, far) == nil {
		w.copy(s, far, s.dialed)
	}
	s.cut()
	back.Wait()
}

func (w *wire) greet(s *strand, far net.Conn) error {
	if w.prelude == nil {
		return nil
	}
	first, err := w.prelude(s.dialed)
	if err == nil && w.pass(s) {
		_, err = far.Write(first)
	}
	return err
}

func (w *wire) copy(s *strand, to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !w.pass(s) {
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) silent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !isClosed(w.gate)
}

// pass waits while the wire is silent. It returns false when the strand is cut.
func (w *wire) pass(s *strand) bool {
	w.mu.Lock()
	gate := w.gate
	w.mu.Unlock()
	select {
	case <-gate:
		return s.done.Err() == nil
	case <-s.done.Done():
		return false
	}
}

// sever closes every connection and takes no new one, until heal.
func (w *wire) sever() {
	w.mu.Lock()
	w.refusing = true
	w.mu.Unlock()
	w.cut()
}

// silence lets nothing pass, either way, until heal; connections stay open.
func (w *wire) silence() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if isClosed(w.gate) {
		w.gate = make(chan struct{})
	}
}

// heal undoes sever and silence: what was held back is carried on, in order.
func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refusing = false
	if !isClosed(w.gate) {
		close(w.gate)
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	strands := make([]*strand, 0, len(w.strands))
	for s := range w.strands {
		strands = append(strands, s)
	}
	w.mu.Unlock()
	for _, s := range strands {
		s.cut()
	}
}

func (w *wire) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	_ = w.listener.Close()
	w.cut()
	w.running.Wait()
}

// cut closes both sides. It may be called again.
func (s *strand) cut() {
	s.cancel()
	_ = s.dialed.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.far != nil {
		_ = s.far.Close()
	}
}
