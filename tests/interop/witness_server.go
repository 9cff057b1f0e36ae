package interop

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// WitnessServer lets other processes report to a [Witness]: over TCP, a line at
// a time, every line answered before the next.
//
//	enter <holder> <place> <claim> [<node>]    ok
//	change <holder> <place> <claim>            violation <what is wrong>
//	leave <holder> <place>
//
// A claim is exclusive, shared or one-of-N; the node is the one by which the holder
// holds, by its name or path, for the order to be judged. No name has a space in it.
// A holder whose connection ends while it is inside is a violation.
type WitnessServer struct {
	*Witness
	listener net.Listener
	stopped  chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
	done  bool
}

// StartWitness returns a witness that other processes can reach. When the test ends, any violation
// fails it, and so does a holder that is still inside.
func StartWitness(t testing.TB) *WitnessServer {
	t.Helper()
	s, err := ServeWitness(NewWitness())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		inside := s.Inside()
		s.Close()
		for _, violation := range s.Violations() {
			t.Error(violation)
		}
		for _, holder := range inside {
			t.Errorf("interop: %s when the test has ended", holder)
		}
	})
	return s
}

// ServeWitness listens on a loopback port for reports to a witness. The caller
// closes it.
func ServeWitness(w *Witness) (*WitnessServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("interop: listen for a witness: %w", err)
	}
	s := &WitnessServer{
		Witness: w, listener: listener, stopped: make(chan struct{}), conns: map[net.Conn]struct{}{},
	}
	s.running.Go(s.accept)
	return s, nil
}

// Addr is the address for reports: host and port.
func (s *WitnessServer) Addr() string { return s.listener.Addr().String() }

// Close cuts all connections and waits until nothing runs any more. It may be
// called again.
func (s *WitnessServer) Close() {
	s.mu.Lock()
	if !s.done {
		s.done = true
		close(s.stopped)
	}
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	_ = s.listener.Close()
	s.running.Wait()
}

func (s *WitnessServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.done {
			_ = conn.Close()
		}
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		s.running.Go(func() { s.serve(conn) })
	}
}

// serve answers the reports of one connection.
func (s *WitnessServer) serve(conn net.Conn) {
	mine := map[Entry]struct{}{} // who came in over this connection, and where
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, conn)
		for entry := range mine {
			s.gone(entry.Holder, entry.Place)
		}
	}()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		answer := "ok"
		if err := s.report(strings.Fields(lines.Text()), mine); err != nil {
			answer = "violation " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		_, _ = fmt.Fprintln(conn, answer)
	}
}

// report takes one report. A line that is no report is a violation as well, since nothing was
// learned from it.
func (s *WitnessServer) report(words []string, mine map[Entry]struct{}) error {
	if len(words) == 3 && words[0] == "leave" {
		delete(mine, Entry{Holder: words[1], Place: words[2]})
		return s.Leave(words[1], words[2])
	}
	var node string
	if len(words) == 5 && words[0] == "enter" {
		words, node = words[:4], words[4]
	}
	if len(words) != 4 {
		return s.garbled(words)
	}
	holder, place, claim := words[1], words[2], Claim(words[3])
	if !claim.known() {
		return s.garbled(words)
	}
	switch words[0] {
	case "enter":
		mine[Entry{Holder: holder, Place: place}] = struct{}{}
		err := s.EnterWith(node, holder, place, claim)
		s.await(holder, s.stopped)
		return err
	case "change":
		return s.Change(holder, place, claim)
	}
	return s.garbled(words)
}

func (s *WitnessServer) garbled(words []string) error {
	s.Witness.mu.Lock()
	defer s.Witness.mu.Unlock()
	return s.violated("%q is no report", strings.Join(words, " "))
}
