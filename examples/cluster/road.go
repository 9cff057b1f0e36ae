package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
)

// road is the only way to and from one node: what others dial to reach it, and what it dials to reach
// others. It can be cut.
type road struct {
	in, out net.Listener
	target  string // where the node listens

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]struct{}
}

func newRoad(target string) (*road, error) {
	r := &road{target: target, conns: map[net.Conn]struct{}{}}
	var err error
	if r.in, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if r.out, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		_ = r.in.Close()
		return nil, err
	}
	go r.accept(r.in, func(io.Reader) (string, error) { return r.target, nil })
	go r.accept(r.out, func(from io.Reader) (string, error) {
		line, err := from.(*bufio.Reader).ReadString('\n')
		return strings.TrimSpace(line), err
	})
	return r, nil
}

// Others dial address. The node dials uplink, and names the node that it wants to reach.
func (r *road) address() string { return r.in.Addr().String() }
func (r *road) uplink() string  { return r.out.Addr().String() }

// dialUplink reaches a target by way of an uplink.
func dialUplink(dial func(address string) (net.Conn, error), uplink, target string) (net.Conn, error) {
	conn, err := dial(uplink)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, target+"\n"); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (r *road) accept(at net.Listener, whither func(io.Reader) (string, error)) {
	for {
		conn, err := at.Accept()
		if err != nil {
			return
		}
		go r.serve(conn, whither)
	}
}

func (r *road) serve(from net.Conn, whither func(io.Reader) (string, error)) {
	defer from.Close()
	if !r.add(from) {
		return
	}
	defer r.remove(from)
	buffered := bufio.NewReader(from)
	target, err := whither(buffered)
	if err != nil {
		return
	}
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	if !r.add(to) {
		return
	}
	defer r.remove(to)
	go func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	}()
	_, _ = io.Copy(to, buffered)
}

// add notes a connection; false when the road is cut.
func (r *road) add(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.down {
		r.conns[conn] = struct{}{}
	}
	return !r.down
}

func (r *road) remove(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}

// cut closes every connection, and while it lasts each new one.
func (r *road) cut(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
	for conn := range r.conns {
		_ = conn.Close()
	}
}

func (r *road) close() {
	_ = r.in.Close()
	_ = r.out.Close()
	r.cut(true)
}
