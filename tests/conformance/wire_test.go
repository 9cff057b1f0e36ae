package conformance

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// patience bounds the wait for any answer. A sequence that needs it all has
// found something.
const patience = 30 * time.Second

// grace is the time that a connection may stay open after the reply that ends it, before it is
// asked for a sign of life. Nothing is judged by it: a connection that ends later has ended, too.
const grace = 2 * time.Second

const (
	eventXid = -1
	pingXid  = -2
	pingCode = 11
	// frameLimit is above anything that a server sends.
	frameLimit = 8 << 20
)

var errTooLong = errors.New("a frame of absurd length")

// wire is a connection that speaks frames.
type wire struct {
	conn    net.Conn
	reader  *bufio.Reader
	patient bool // wait with patience, not only for a grace
}

func dial(addr string) (*wire, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, reader: bufio.NewReaderSize(conn, 1<<14), patient: true}, nil
}

// write sends bytes. That the server hung up is found out by reading.
func (w *wire) write(b []byte) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(patience))
	_, _ = w.conn.Write(b)
}

func (w *wire) read() ([]byte, error) {
	wait := patience
	if !w.patient {
		wait = grace
	}
	_ = w.conn.SetReadDeadline(time.Now().Add(wait))
	var length [4]byte
	if _, err := io.ReadFull(w.reader, length[:]); err != nil {
		return nil, err
	}
	n := int32(binary.BigEndian.Uint32(length[:]))
	if n < 0 || n > frameLimit {
		return nil, errTooLong
	}
	body := make([]byte, n)
	_, err := io.ReadFull(w.reader, body)
	return body, err
}

func (w *wire) close() { _ = w.conn.Close() }

// drop closes the connection, and returns when the server has noticed. A real one that notices late forgets which
// connection its session has now (NIOServerCnxnFactory.removeCnxn), and so does not close that with the next.
func (w *wire) drop() {
	if half, is := w.conn.(interface{ CloseWrite() error }); is && half.CloseWrite() == nil {
		_ = w.conn.SetReadDeadline(time.Now().Add(patience))
		_, _ = io.Copy(io.Discard, w.conn)
	}
	w.close()
}

// ending names the way in which a connection has ended. A server that closes a connection on
// which it has not read everything resets it, so a reset is an end like any other.
func ending(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer"
	case errors.Is(err, errTooLong):
		return errTooLong.Error()
	default:
		return "closed"
	}
}

// header begins every reply.
type header struct {
	xid  int32
	zxid int64
	err  int32
}

func (d *decoder) header() header {
	return header{xid: d.int32(), zxid: d.int64(), err: d.int32()}
}

// request puts a header before a body, and the length before both.
func request(xid, code int32, body []byte) []byte {
	var e encoder
	e.int32(xid)
	e.int32(code)
	return frame(append(e.bytes, body...))
}

var ping = request(pingXid, pingCode, nil)
