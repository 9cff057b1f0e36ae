package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// host runs embedded servers for the stand-ins that a suite starts. A stand-in connects, says which [member]
// it stands for, and its server runs as long as the connection does. The members of one ensemble are
// replicas of one embedded server, which starts when all of them have come.
//
// A member that comes again finds what it had, as a process that is killed and started does. Its former
// state is found by a file in its folder for data, so a folder that was emptied means an empty server.
type host struct {
	listener net.Listener
	handlers sync.WaitGroup
	report   func(error) // what went wrong with a server

	mu      sync.Mutex // guards what follows
	forming map[string][]*place
	placed  map[string]*place // by the content of the file
	conns   map[net.Conn]struct{}
	closed  bool
}

// place is the replica of an embedded server that a member has once it has started.
type place struct {
	member member
	mark   string
	server *embedded.Server
	number int
	up     chan struct{} // closed when the server has started, or failed to
	err    error
}

// markFile is the name of the file in a member's folder for data.
const markFile = "embedded"

func newHost(report func(error)) (*host, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("host of embedded servers: %w", err)
	}
	h := &host{listener: listener, report: report,
		forming: map[string][]*place{}, placed: map[string]*place{}, conns: map[net.Conn]struct{}{}}
	h.handlers.Go(h.accept)
	return h, nil
}

// addr is the address for stand-ins.
func (h *host) addr() string { return h.listener.Addr().String() }

// close ends all servers.
func (h *host) close() {
	h.mu.Lock()
	h.closed = true
	_ = h.listener.Close()
	for conn := range h.conns {
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.handlers.Wait()
	for _, p := range h.placed {
		if p.server != nil && p.number == 0 {
			p.server.Close()
		}
	}
}

func (h *host) accept() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return // closed
		}
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			_ = conn.Close()
			return
		}
		h.conns[conn] = struct{}{}
		h.mu.Unlock()
		h.handlers.Go(func() {
			if err := h.serve(conn); err != nil {
				h.report(err)
			}
			_ = conn.Close()
			h.mu.Lock()
			delete(h.conns, conn)
			h.mu.Unlock()
		})
	}
}

// serve runs a member's server as long as the connection lasts. It writes the line up when the server is, and before that
// the line waits, where other members of the ensemble have to come first: what starts them may start one after the other.
func (h *host) serve(conn net.Conn) error {
	var m member
	lines := bufio.NewReader(conn)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return nil // it ended at once
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("a stand-in says %q: %w", line, err)
	}
	p, err := h.place(m)
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() { // ends when conn is closed, by either side
		_, _ = lines.ReadByte()
		close(gone)
	}()
	select {
	case <-p.up:
	default:
		_, _ = fmt.Fprintln(conn, "waits")
	}
	select {
	case <-p.up:
	case <-gone:
		return nil
	}
	if p.err != nil {
		return p.err
	}
	replica := p.server.Replica(p.number)
	if err := replica.Start(); err != nil {
		return fmt.Errorf("server at %s: %w", m.Addr, err)
	}
	_, _ = fmt.Fprintln(conn, "up")
	<-gone
	replica.Stop()
	return nil
}

// place gives the member's place, or a new one.
func (h *host) place(m member) (*place, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	path := filepath.Join(m.DataDir, markFile)
	mark, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("what %s has: %w", m.Addr, err)
	}
	if p := h.placed[string(mark)]; p != nil && p.member.Addr == m.Addr {
		return p, nil
	}
	p := &place{member: m, mark: fmt.Sprintf("%s#%d", m.Addr, len(h.placed)), up: make(chan struct{})}
	if err := os.WriteFile(path, []byte(p.mark), 0o600); err != nil {
		return nil, fmt.Errorf("what %s has: %w", m.Addr, err)
	}
	h.placed[p.mark] = p
	ensemble := strings.Join(m.Peers, " ")
	if len(m.Peers) < 2 {
		start([]*place{p})
		return p, nil
	}
	h.forming[ensemble] = append(h.forming[ensemble], p)
	if all := h.forming[ensemble]; len(all) == len(m.Peers) {
		delete(h.forming, ensemble)
		start(all)
	}
	return p, nil
}

// start starts one embedded server for all members of an ensemble.
func start(all []*place) {
	slices.SortFunc(all, func(a, b *place) int { return strings.Compare(a.member.Addr, b.member.Addr) })
	var addrs []string
	for _, p := range all {
		addrs = append(addrs, p.member.Addr)
	}
	m := all[0].member
	options := []embedded.Option{embedded.WithReplicas(len(all)), embedded.WithListen(addrs...), embedded.WithTick(m.Tick),
		embedded.WithSessionTimeouts(cmp.Or(m.Least, 2*m.Tick), cmp.Or(m.Most, 20*m.Tick)), embedded.WithSyncLimit(cmp.Or(m.Sync, 5)),
		embedded.WithReapInterval(cmp.Or(m.Reap, time.Minute))}
	if len(m.Users) > 0 {
		options = append(options, embedded.WithSASL(m.Users))
	}
	if m.Frame != 0 {
		options = append(options, embedded.WithMaxFrame(m.Frame))
	}
	if m.SASL {
		options = append(options, embedded.WithSASLRequired())
	}
	server, err := embedded.Start(options...)
	for i, p := range all {
		p.server, p.number, p.err = server, i, err
		close(p.up)
	}
}
