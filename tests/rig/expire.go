package rig

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrNoSession is returned when the server knows no session of that id and
// password: it has expired, was closed, or never was.
var ErrNoSession = errors.New("rig: the server knows no such session")

// closeXid numbers the one request that ExpireSession sends.
const closeXid = 1

// ExpireSession ends a session as the server would by a timeout, but at once: it
// takes the session over on a connection of its own and closes it there. When it
// returns, the session's ephemeral nodes are gone.
//
// Its client finds its connection closed, and learns of the expiry when it
// connects again. A client that connects again very quickly may take its session
// back first; then ExpireSession tries again, until ctx ends.
func ExpireSession(ctx context.Context, addr string, id int64, password []byte) error {
	known := false // an attempt was let in: id and password are right
	for {
		accepted, err := closeSession(ctx, addr, id, password, known)
		known = known || accepted
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrNoSession) && known:
			return nil // an earlier attempt has closed it, only its reply was lost
		case errors.Is(err, ErrNoSession):
			return fmt.Errorf("%w: 0x%x at %s", err, id, addr)
		case ctx.Err() != nil:
			return fmt.Errorf("rig: expire session 0x%x at %s: %w", id, addr, errors.Join(ctx.Err(), err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
}

// closeSession makes one attempt; accepted says whether the server let it in.
//
// Only when the session is known to exist are both frames sent in one write,
// which leaves its client no time to come back between the take-over and the
// close. The first time, the close waits for the server's word: a server that
// refuses us with a frame of ours unread resets the connection, and a client
// that comes back has ours closed, and either may lose the server's reply. Then
// nobody could tell a wrong password from a session that we have just closed.
func closeSession(ctx context.Context, addr string, id int64, password []byte, known bool) (accepted bool, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	hello := connectFrame(time.Minute, id, password)
	if known {
		hello = append(hello, CloseFrame()...)
	}
	from := bufio.NewReader(conn)
	if _, err := askForSession(conn, from, hello); err != nil {
		return false, err
	}
	if !known {
		if _, err := conn.Write(CloseFrame()); err != nil {
			return true, err
		}
	}
	return true, awaitClosed(from)
}

// awaitClosed reads up to the reply to closeSession.
func awaitClosed(from *bufio.Reader) error {
	for {
		frame, err := readFrame(from)
		if err != nil {
			return err
		}
		r := newReader(frame)
		if r.int32() != closeXid {
			continue // an event
		}
		r.int64() // zxid
		if code := r.int32(); code != 0 {
			return fmt.Errorf("rig: closeSession was answered with error %d", code)
		}
		return r.err
	}
}

func connectFrame(timeout time.Duration, id int64, password []byte) []byte {
	body := binary.BigEndian.AppendUint32(nil, 0) // protocol version
	body = binary.BigEndian.AppendUint64(body, 0) // last zxid seen: none
	body = binary.BigEndian.AppendUint32(body, uint32(timeout.Milliseconds()))
	body = binary.BigEndian.AppendUint64(body, uint64(id))
	body = binary.BigEndian.AppendUint32(body, uint32(len(password)))
	body = append(body, password...)
	body = append(body, 0) // no read-only server
	return framed(body)
}

// CloseFrame is the request that closes a session, as it is on the wire.
func CloseFrame() []byte {
	body := binary.BigEndian.AppendUint32(nil, closeXid)
	closing := int32(OpCloseSession)
	return framed(binary.BigEndian.AppendUint32(body, uint32(closing)))
}

func framed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}
