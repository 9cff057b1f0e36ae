package rig

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// crowdSlots is the number of sessions of a crowd that are opened at the same time.
	crowdSlots = 16
	// openBound is for one session to be opened by a server that has much to do.
	openBound = time.Minute
)

// Crowd is sessions of plain sockets, which do nothing but live: a library for each of a thousand would cost more than
// the servers do.
type Crowd struct {
	timeout time.Duration
	conns   []net.Conn
	stop    context.CancelFunc
	pings   sync.WaitGroup
}

// OpenCrowd opens so many sessions at the servers in turn, and keeps them alive until FallSilent or Leave is called, or ctx
// ends. The crowd is to be left in any case, also when there is an error.
func OpenCrowd(ctx context.Context, addrs []string, sessions int, timeout time.Duration) (*Crowd, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &Crowd{conns: make([]net.Conn, sessions), stop: stop}
	granted, errs := make([]time.Duration, sessions), make([]error, sessions)
	slots := make(chan struct{}, crowdSlots)
	var all sync.WaitGroup
	for i := range sessions {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			c.conns[i], granted[i], errs[i] = OpenSession(ctx, addrs[i%len(addrs)], timeout, 0, make([]byte, passwordLength))
			if errs[i] == nil {
				c.pings.Go(func() { keepPinging(ctx, c.conns[i], granted[i]/4) })
			}
		})
	}
	all.Wait()
	for _, d := range granted {
		c.timeout = max(c.timeout, d)
	}
	return c, ofCrowd(errs)
}

// ofCrowd says how many of a crowd failed, and how the first of them did.
func ofCrowd(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("rig: %d sessions of a crowd failed, the first so: %w", len(errs), errs[0])
}

// Timeout is the session timeout that the servers granted, the longest where they differ.
func (c *Crowd) Timeout() time.Duration { return c.timeout }

// FallSilent pings once more, and never again.
func (c *Crowd) FallSilent() error {
	c.stop()
	c.pings.Wait()
	errs := make([]error, len(c.conns))
	for i, conn := range c.conns {
		_, errs[i] = conn.Write(pingFrame)
	}
	return ofCrowd(errs)
}

// Leave closes all sockets. Sessions that still live are left to expire.
func (c *Crowd) Leave() {
	c.stop()
	c.pings.Wait()
	for _, conn := range c.conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

func keepPinging(ctx context.Context, conn net.Conn, every time.Duration) {
	for Rest(ctx, every) {
		if _, err := conn.Write(pingFrame); err != nil {
			return
		}
	}
}

// pingFrame is 8 bytes: xid -2 and type 11.
var pingFrame = []byte{0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11}

// passwordLength is the length of a session's password, in bytes.
const passwordLength = 16

// OpenSession asks for a session anew, by id and password, or for a new one where id is 0, and returns the timeout
// that the server granted. Anything that the server says from then on is read and forgotten until the connection is
// closed. The error wraps [ErrNoSession] where the server knows no such session.
func OpenSession(ctx context.Context, addr string, timeout time.Duration, id int64, password []byte,
) (net.Conn, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, openBound)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, 0, fmt.Errorf("rig: session at %s: %w", addr, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	from := bufio.NewReader(conn)
	granted, err := askForSession(conn, from, connectFrame(timeout, id, password))
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("rig: session at %s: %w", addr, err), conn.Close())
	}
	// The replies are not needed, but the server's end must not fill up.
	go func() { _, _ = io.Copy(io.Discard, from) }()
	return conn, granted, nil
}

// askForSession sends frames, of which the first asks for a session, and reads the answer to that.
func askForSession(conn net.Conn, from *bufio.Reader, frames []byte) (time.Duration, error) {
	if _, err := conn.Write(frames); err != nil {
		return 0, err
	}
	frame, err := readFrame(from)
	if err != nil {
		return 0, err
	}
	reply, err := parseConnectReply(frame)
	if err == nil && !reply.accepted() {
		err = ErrNoSession
	}
	return time.Duration(reply.timeout) * time.Millisecond, err
}
