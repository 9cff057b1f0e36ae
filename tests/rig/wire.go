package rig

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
)

// wire carries bytes between two members in the way of a network that can be
// cut, and that can stall or delay each direction by itself. It does not know
// what passes, but for the first message of a connection, which prelude may change.
type wire struct {
	listener net.Listener
	target   string
	prelude  func(from net.Conn) ([]byte, error) // nil: nothing to change
	out      flow                                // from the member that dials
	back     flow                                // to it
	quorum   bool                                // packets pass, not the messages of elections
	running  sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	refusing bool
	delivers map[*flow]func(Packet) // observers, who may be nil
	takes    map[*flow]func(Packet)
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
	return &wire{listener: listener, target: target, strands: map[*strand]struct{}{},
		delivers: map[*flow]func(Packet){}, takes: map[*flow]func(Packet){}}, nil
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
	if w.out.stalls() || w.back.stalls() {
		// Connecting takes both directions, so a network that stalls takes no new
		// connection: what was sent into this one was never sent.
		_ = w.out.pass(s.done) && w.back.pass(s.done)
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
	back.Go(func() { w.copy(s, &w.back, s.dialed, far) })
	if w.greet(s, far) == nil {
		w.copy(s, &w.out, far, s.dialed)
	}
	s.cut()
	back.Wait()
}

func (w *wire) greet(s *strand, far net.Conn) error {
	if w.prelude == nil {
		return nil
	}
	first, err := w.prelude(s.dialed)
	if err == nil && w.out.pass(s.done) {
		_, err = far.Write(first)
	}
	return err
}

// copy carries one direction, and cuts the strand when it ends.
func (w *wire) copy(s *strand, f *flow, to, from net.Conn) {
	defer s.cut()
	var taken, passing packets
	buffer := make([]byte, 32<<10)
	f.carry(stream{
		done: s.done,
		read: func() ([]byte, error) {
			n, err := from.Read(buffer)
			if w.quorum {
				w.show(w.takes, f, taken.feed(buffer[:n]))
			}
			return bytes.Clone(buffer[:n]), err
		},
		deliver: func(p []byte) bool {
			if w.quorum {
				w.show(w.delivers, f, passing.feed(p))
			}
			_, err := to.Write(p)
			return err == nil
		},
		cut: s.cut,
	})
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
	w.out.stall()
	w.back.stall()
}

// heal undoes every fault: bytes that were held back are carried on, in order.
func (w *wire) heal() {
	w.mu.Lock()
	w.refusing = false
	w.mu.Unlock()
	w.out.heal()
	w.back.heal()
}

// observe has every packet of one direction told to a function, or to none: when it is delivered, or taken.
func (w *wire) observe(at map[*flow]func(Packet), f *flow, told func(Packet)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at[f] = told
}

func (w *wire) show(at map[*flow]func(Packet), f *flow, passing []Packet) {
	w.mu.Lock()
	told := at[f]
	w.mu.Unlock()
	if told == nil {
		return
	}
	for _, packet := range passing {
		told(packet)
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	strands := slices.Collect(maps.Keys(w.strands))
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
