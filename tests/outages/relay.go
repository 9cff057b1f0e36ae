package main

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
)

// relay passes bytes between clients at one address and a server at another, except during an outage.
type relay struct {
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	conns    map[net.Conn]struct{}
	hangUp   atomic.Bool // new connections are closed at once
	running  sync.WaitGroup
}

func newRelay(target string) (*relay, error) {
	r := &relay{target: target, addr: relayHost() + ":0", conns: map[net.Conn]struct{}{}}
	if err := r.listen(); err != nil {
		return nil, err
	}
	return r, nil
}

// relayHost is the address at which relays listen. On Linux every address of 127/8 is the
// machine's. Nobody connects from this one, so no connection is given the port of a relay while
// that refuses.
func relayHost() string {
	if runtime.GOOS == "linux" {
		return "127.77.0.1"
	}
	return "127.0.0.1"
}

// listen begins to accept, at the same address each time.
func (r *relay) listen() error {
	listener, err := net.Listen("tcp", r.addr)
	if err != nil {
		return fmt.Errorf("outages: listen again: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener, r.addr = listener, listener.Addr().String()
	r.running.Go(func() { r.accept(listener) })
	return nil
}

func (r *relay) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		if r.hangUp.Load() {
			_ = client.Close()
			continue
		}
		r.running.Go(func() { r.serve(client) })
	}
}

func (r *relay) serve(client net.Conn) {
	defer reset(client)
	server, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer reset(server)
	if !r.adopt(client, server) {
		return
	}
	var backwards sync.WaitGroup
	backwards.Go(func() {
		_, _ = io.Copy(client, server)
		reset(client)
	})
	_, _ = io.Copy(server, client)
	reset(server)
	backwards.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// adopt registers connections for the next outage; false while there is one.
func (r *relay) adopt(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener == nil || r.hangUp.Load() {
		return false
	}
	for _, conn := range conns {
		r.conns[conn] = struct{}{}
	}
	return true
}

// down begins an outage: connections are reset, and new ones refused, or accepted and closed at once.
func (r *relay) down(hangUp bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hangUp {
		r.hangUp.Store(true)
	} else if r.listener != nil {
		_ = r.listener.Close()
		r.listener = nil
	}
	for conn := range r.conns {
		reset(conn)
	}
}

// up ends the outage.
func (r *relay) up() error {
	if r.hangUp.Swap(false) {
		return nil
	}
	return r.listen()
}

// close ends the relay and waits for the goroutines that it started.
func (r *relay) close() {
	r.hangUp.Store(false)
	r.down(false)
	r.running.Wait()
}

// reset closes a connection so that the other side reads a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
