package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// crowd is sessions of plain sockets, which do nothing but live: a library for each of a thousand would cost more than
// the servers do. The frames are those of ZooKeeper's jute definitions (zkconn/close_session.go has them, too).
type crowd struct {
	conns []net.Conn
	stop  context.CancelFunc
	pings sync.WaitGroup
}

// gather opens so many sessions at the servers in turn, and keeps them alive until last is called.
func (r *round) gather(sessions int) (*crowd, error) {
	ctx, stop := context.WithCancel(r.ctx)
	c := &crowd{conns: make([]net.Conn, sessions), stop: stop}
	errs := make([]error, sessions)
	slots := make(chan struct{}, 16)
	var all sync.WaitGroup
	servers := r.servers()
	for i := range sessions {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if c.conns[i], errs[i] = plainSession(ctx, servers[i%len(servers)].Addr(), r.o.timeout); errs[i] == nil {
				c.pings.Go(func() { keepPinging(ctx, c.conns[i], r.o.timeout/4) })
			}
		})
	}
	all.Wait()
	return c, errors.Join(errs...)
}

// last pings once more, and never again.
func (c *crowd) last() error {
	c.stop()
	c.pings.Wait()
	errs := make([]error, len(c.conns))
	for i, conn := range c.conns {
		_, errs[i] = conn.Write(plainPing)
	}
	return errors.Join(errs...)
}

// leave closes all sockets. Sessions that still live are left to expire.
func (c *crowd) leave() {
	c.stop()
	c.pings.Wait()
	for _, conn := range c.conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

func keepPinging(ctx context.Context, conn net.Conn, every time.Duration) {
	for pause(ctx, every) == nil {
		if _, err := conn.Write(plainPing); err != nil {
			return
		}
	}
}

// Frames of 8 bytes: xid -2 and type 11; xid 1 and type -11.
var (
	plainPing  = []byte{0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11}
	plainClose = []byte{0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5}
)

// plainSession asks for a session.
func plainSession(ctx context.Context, addr string, timeout time.Duration) (net.Conn, error) {
	return attach(ctx, addr, timeout, 0, make([]byte, passwordLength))
}

// passwordLength is that of a session's password, in bytes.
const passwordLength = 16

// attach asks for a session anew, by id and password, or for a new one where id is 0.
func attach(ctx context.Context, addr string, timeout time.Duration, id int64, password []byte) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := askForSession(conn, timeout, id, password); err != nil {
		return nil, errors.Join(fmt.Errorf("plain session at %s: %w", addr, err), conn.Close())
	}
	// What the server answers to pings is of no interest, but the server's end is not to fill up.
	go func() { _, _ = io.Copy(io.Discard, conn) }() // until the connection is closed
	return conn, nil
}

// askForSession sends a connect request and reads the reply.
func askForSession(conn net.Conn, timeout time.Duration, id int64, password []byte) error {
	body := make([]byte, 4+8, 64) // protocol version and last zxid seen: 0
	body = binary.BigEndian.AppendUint32(body, uint32(timeout.Milliseconds()))
	body = binary.BigEndian.AppendUint64(body, uint64(id))
	body = binary.BigEndian.AppendUint32(body, uint32(len(password)))
	body = append(append(body, password...), 0) // and not read-only
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	if err := conn.SetDeadline(time.Now().Add(settleTime)); err != nil {
		return err
	}
	if _, err := conn.Write(frame); err != nil {
		return err
	}
	const replySize = 4 + 4 + 4 + 8 // length, protocol version, timeout, session; the rest is read with what comes later
	var reply [replySize]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	if got := time.Duration(binary.BigEndian.Uint32(reply[8:])) * time.Millisecond; got != timeout {
		return fmt.Errorf("granted %v, not %v", got, timeout)
	}
	return conn.SetDeadline(time.Time{})
}
