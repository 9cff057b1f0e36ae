package embedded

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// inMemory is a client's end of a connection without a network. Once the server has closed its end, it behaves as a TCP
// connection does: a write fails with a broken pipe, and deadlines can be set. A net.Pipe answers both as if the client
// had closed it, who then cannot tell that the server hung up.
type inMemory struct {
	net.Conn
	closed atomic.Bool // by the client
}

// Write implements net.Conn.
func (c *inMemory) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.hungUp(err) {
		err = &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return n, err
}

// SetDeadline implements net.Conn.
func (c *inMemory) SetDeadline(at time.Time) error { return c.unlessHungUp(c.Conn.SetDeadline(at)) }

// SetReadDeadline implements net.Conn.
func (c *inMemory) SetReadDeadline(at time.Time) error {
	return c.unlessHungUp(c.Conn.SetReadDeadline(at))
}

// SetWriteDeadline implements net.Conn.
func (c *inMemory) SetWriteDeadline(at time.Time) error {
	return c.unlessHungUp(c.Conn.SetWriteDeadline(at))
}

// Close implements net.Conn.
func (c *inMemory) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *inMemory) hungUp(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) && !c.closed.Load()
}

func (c *inMemory) unlessHungUp(err error) error {
	if c.hungUp(err) {
		return nil
	}
	return err
}
