package zkconn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// fakeServer grants sessions over in-memory pipes and answers requests as a test tells it to.
type fakeServer struct {
	t *testing.T

	mu       sync.Mutex
	unreach  bool    // dialing fails
	mute     bool    // connects, but answers no connect request
	hangsUp  bool    // connects, and hangs up in place of an answer to the connect request
	deaf     bool    // answers no request, and no ping
	session  int64   // granted next; 0 says expired
	grants   uint32  // the timeout granted next, in milliseconds; 0 stands for 40 seconds
	order    []int32 // operations, in the order in which they came, pings included
	connects []int64
	requests []fakeRequest
	conns    []net.Conn
	handle   func(r fakeRequest) fakeReply
	delay    time.Duration // of each reply, which holds up no other
	farewell time.Duration // until the session is closed
	running  sync.WaitGroup
}

// lateConn writes what it is given after a while.
type lateConn struct {
	net.Conn
	by      time.Duration
	waiting chan lateFrame
}

type lateFrame struct {
	due   time.Time
	bytes []byte
}

func (s *fakeServer) late(conn net.Conn) *lateConn {
	l := &lateConn{conn, s.delay, make(chan lateFrame, 10_000)}
	s.running.Go(func() {
		for frame := range l.waiting {
			time.Sleep(time.Until(frame.due))
			_, _ = conn.Write(frame.bytes)
		}
	})
	return l
}

func (l *lateConn) Write(p []byte) (int, error) {
	l.waiting <- lateFrame{time.Now().Add(l.by), bytes.Clone(p)}
	return len(p), nil
}

type fakeRequest struct {
	xid, op int32
	body    []byte
	conn    int // which connection, from 0
}

type fakeReply struct {
	xid    int32 // the request's where it is not said
	code   int32
	zxid   uint64 // 9 where it is not said
	body   []byte // the least where it is nil
	silent bool
	cut    bool   // close the connection behind the reply, or instead of it
	event  []byte // sent before the reply
}

const opClose = opCloseSession

func newFakeServer(t *testing.T) *fakeServer {
	s := &fakeServer{t: t, session: 0x1234}
	t.Cleanup(func() {
		s.cut()
		s.running.Wait()
	})
	return s
}

func (s *fakeServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.unreach {
		return nil, errors.New("unreachable for a test")
	}
	client, server := net.Pipe()
	number := len(s.conns)
	s.conns = append(s.conns, server)
	s.running.Go(func() {
		defer func() { _ = server.Close() }()
		if s.delay == 0 {
			s.serve(server, number)
			return
		}
		late := s.late(server)
		defer close(late.waiting)
		s.serve(late, number)
	})
	return client, nil
}

func (s *fakeServer) serve(conn net.Conn, number int) {
	hello, err := readFrame(conn)
	if err != nil {
		return
	}
	asked := int64(binary.BigEndian.Uint64(hello[16:]))
	s.mu.Lock()
	s.connects = append(s.connects, asked)
	session, mute, hangsUp, grants := s.session, s.mute, s.hangsUp, cmp.Or(s.grants, 40_000)
	s.mu.Unlock()
	if hangsUp {
		return
	}
	if mute {
		_, _ = readFrame(conn) // until the client gives up
		return
	}
	if writeFrame(conn, connectReplyBody(session, grants)) != nil || session == 0 {
		_, _ = readFrame(conn)
		return
	}
	for {
		frame, err := readFrame(conn)
		if err != nil || !s.answer(conn, number, frame) {
			return
		}
	}
}

func (s *fakeServer) answer(conn net.Conn, number int, frame []byte) bool {
	r := fakeRequest{
		xid: int32(binary.BigEndian.Uint32(frame)), op: int32(binary.BigEndian.Uint32(frame[4:])), body: frame[8:], conn: number,
	}
	var reply fakeReply
	s.mu.Lock()
	handle, deaf, farewell := s.handle, s.deaf, s.farewell
	s.order = append(s.order, r.op)
	if r.op != opPing {
		s.requests = append(s.requests, r)
	}
	s.mu.Unlock()
	if handle != nil && r.op != opPing && r.op != opClose {
		reply = handle(r)
	}
	if r.op == opClose {
		time.Sleep(farewell)
	}
	if reply.body == nil {
		reply.body = r.answer()
	}
	reply.silent = reply.silent || deaf
	if reply.event != nil && writeFrame(conn, append(replyHeader(xidEvent, 0), reply.event...)) != nil {
		return false
	}
	if !reply.silent && writeFrame(conn, append(replyHeaderAt(cmp.Or(reply.xid, r.xid), cmp.Or(reply.zxid, 9), reply.code), reply.body...)) != nil {
		return false
	}
	return !reply.cut && r.op != opClose
}

// answer gives the body of a reply to a request that was carried out, of the least that it may be.
func (r fakeRequest) answer() []byte {
	switch r.op {
	case opSync:
		return r.body
	case opCreate, opCreateContainer:
		path, _, _ := cutString(r.body)
		return text(path)
	case opMulti:
		return multiEnd()
	case opExists, opSetData:
		return statBody(1, 1, 0)
	case opGetData, opGetChildren2:
		return concat(number(0), statBody(1, 1, 0))
	}
	return nil
}

// cut closes every connection.
func (s *fakeServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
}

func (s *fakeServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeServer) asked() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int64(nil), s.connects...)
}

func (s *fakeServer) seen(op int32) []fakeRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []fakeRequest
	for _, r := range s.requests {
		if r.op == op {
			found = append(found, r)
		}
	}
	return found
}

// dialFake gives a connection to the server and its events.
func dialFake(t *testing.T, s *fakeServer, servers string, opts ...Option) (*Conn, <-chan Event) {
	t.Helper()
	opts = append([]Option{
		WithDialer(s.dial), WithSessionTimeout(40 * time.Second), WithReconnectBackoff(time.Millisecond, 5*time.Millisecond),
	}, opts...)
	cfg, err := NewConfig(servers, opts...)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan Event, 10_000)
	c, err := Dial(cfg, 7, func(e Event) { events <- e })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, events
}

func expect(t *testing.T, events <-chan Event, kind EventKind) Event {
	t.Helper()
	e := nextEvent(t, events)
	if e.Kind != kind {
		t.Fatalf("got %v (%v), want %v", e.Kind, e.Err, kind)
	}
	return e
}

// nextEvent waits for an event of any kind.
func nextEvent(t *testing.T, events <-chan Event) (e Event) {
	t.Helper()
	select {
	case e = <-events:
	case <-time.After(time.Minute):
		t.Fatal("no event")
	}
	return e
}

func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(r, frame)
	return frame, err
}

func writeFrame(w io.Writer, body []byte) error {
	_, err := w.Write(frameOf(body))
	return err
}

func frameOf(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func replyHeader(xid, code int32) []byte { return replyHeaderAt(xid, 9, code) }

func replyHeaderAt(xid int32, zxid uint64, code int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, zxid)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

func connectReplyBody(session int64, timeoutMillis uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint32(b, timeoutMillis)
	b = binary.BigEndian.AppendUint64(b, uint64(session))
	b = binary.BigEndian.AppendUint32(b, 16)
	return append(b, make([]byte, 16)...)
}

func text(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// statBody is a stat whose fields are distinct where we read them.
func statBody(czxid, mzxid int64, children uint32) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(czxid))
	b = binary.BigEndian.AppendUint64(b, uint64(mzxid))
	b = binary.BigEndian.AppendUint64(b, 1_700_000_000_000) // ctime
	b = binary.BigEndian.AppendUint64(b, 1_700_000_000_001) // mtime
	b = binary.BigEndian.AppendUint32(b, 3)                 // version
	b = binary.BigEndian.AppendUint32(b, 0)                 // cversion
	b = binary.BigEndian.AppendUint32(b, 0)                 // aversion
	b = binary.BigEndian.AppendUint64(b, 0x1234)            // owner
	b = binary.BigEndian.AppendUint32(b, 5)                 // data length
	b = binary.BigEndian.AppendUint32(b, children)
	return binary.BigEndian.AppendUint64(b, 77) // pzxid
}

// multiPart is one part of the reply to a transaction.
func multiPart(kind, code int32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(kind))
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	return append(b, body...)
}

func multiEnd() []byte { return []byte{255, 255, 255, 255, 1, 255, 255, 255, 255} }
