package embedded

import (
	"context"
	"errors"
	"net"
	"time"
)

// listen opens the replica's port.
func (r *Replica) listen() error {
	listener, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	if r.listener == nil { // it has a name from now on, which is read without the lock
		r.addr = listener.Addr().String()
	}
	r.listener = listener
	return nil
}

// run accepts connections until the listener is closed.
func (r *Replica) run() {
	listener := r.listener
	r.tasks.Go(func() {
		for {
			stream, err := listener.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // out of descriptors, perhaps: not for ever
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if !r.serve(stream) {
				_ = stream.Close()
			}
		}
	})
}

// serve starts a connection. It reports false when the replica takes none.
func (r *Replica) serve(stream net.Conn) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if !r.running || r.refusing || r.e.closed {
		return false
	}
	c := newConn(r, stream)
	r.conns.add(c)
	r.tasks.Go(c.read)
	r.tasks.Go(c.write)
	return true
}

// dial opens a connection that needs no network.
func (r *Replica) dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	if !r.serve(server) {
		_ = client.Close()
		_ = server.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
	}
	return &inMemory{Conn: client}, nil
}

var errRefused = errors.New("embedded: connection refused")
