package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// relay passes frames between all clients and one server. It counts them, may delay them, and has outages.
type relay struct {
	target string
	addr   string
	delay  time.Duration // of each direction
	counts *counts

	mu       sync.Mutex
	listener net.Listener // nil in an outage
	conns    map[net.Conn]struct{}
	running  sync.WaitGroup
}

func newRelay(target string, delay time.Duration, c *counts) (*relay, error) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = "127.77.0.1" // nobody connects from there, so no connection is given the port of a relay that refuses
	}
	r := &relay{target: target, addr: host + ":0", delay: delay, counts: c, conns: map[net.Conn]struct{}{}}
	return r, r.up()
}

// up begins to accept, at the same address each time.
func (r *relay) up() error {
	listener, err := net.Listen("tcp", r.addr)
	if err != nil {
		return fmt.Errorf("cost: relay: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener, r.addr = listener, listener.Addr().String()
	r.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.running.Go(func() { r.serve(client) })
		}
	})
	return nil
}

// down begins an outage: connections are reset, and new ones refused.
func (r *relay) down() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		_ = r.listener.Close()
		r.listener = nil
	}
	for conn := range r.conns {
		reset(conn)
	}
}

func (r *relay) close() {
	r.down()
	r.running.Wait()
}

// adopt registers a connection for the next outage; false while there is one.
func (r *relay) adopt(client, server net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener == nil {
		return false
	}
	r.conns[client], r.conns[server] = struct{}{}, struct{}{}
	return true
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
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.conns, client)
		delete(r.conns, server)
	}()
	var asked atomic.Int64 // the session that the connect request names
	var backwards sync.WaitGroup
	backwards.Go(func() {
		first := true
		r.carry(server, client, func(frame []byte) {
			if first {
				first = false
				r.counts.granted(asked.Load(), grantedSession(frame))
			}
		})
	})
	first := true
	r.carry(client, server, func(frame []byte) {
		if !first {
			r.counts.request(frame)
			return
		}
		first = false
		asked.Store(askedSession(frame))
		r.counts.connect()
	})
	backwards.Wait()
}

// parcel is a frame under way.
type parcel struct {
	frame []byte
	due   time.Time
}

// mostParcels bounds the frames of a direction that are under way; a client has fewer.
const mostParcels = 256

// carry passes frames on until one side is gone, and then resets both. It shows each to see as it comes in.
func (r *relay) carry(from, to net.Conn, see func(frame []byte)) {
	defer reset(from)
	defer reset(to)
	deliver := func(frame []byte) bool {
		_, err := to.Write(frame)
		return err == nil
	}
	if r.delay > 0 {
		parcels := make(chan parcel, mostParcels)
		var delivering sync.WaitGroup
		defer delivering.Wait()
		defer close(parcels)
		late := deliver
		delivering.Go(func() {
			for p := range parcels {
				time.Sleep(time.Until(p.due))
				if !late(p.frame) {
					reset(from)
				}
			}
		})
		deliver = func(frame []byte) bool {
			parcels <- parcel{frame, time.Now().Add(r.delay)}
			return true
		}
	}
	reading := bufio.NewReader(from)
	for {
		frame, err := readFrame(reading)
		if err != nil {
			return
		}
		see(frame)
		if !deliver(frame) {
			return
		}
	}
}

// frameLimit bounds what is believed of a length. Servers accept 1 MiB.
const frameLimit = 64 << 20

// readFrame reads a frame, with its length.
func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > frameLimit {
		return nil, fmt.Errorf("cost: a frame of %d bytes", size)
	}
	frame := make([]byte, len(length)+int(size))
	copy(frame, length[:])
	_, err := io.ReadFull(from, frame[len(length):])
	return frame, err
}

// reset closes a connection so that the other side reads a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
