package touches

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// asker sends one request over and over on one connection, and notes the replies. It never connects again.
type asker struct {
	conn   net.Conn
	hello  []byte // the server's answer to the connect request
	closed chan struct{}

	mu      sync.Mutex
	sent    []time.Time
	replies []reply // to the requests, in their order
	end     error   // of the connection
	ended   time.Time
}

type reply struct {
	at   time.Time
	zxid int64
	code int32
}

// The requests that askers send.
var (
	pings        = request(-2, 11)
	syncs        = request(1, 9, 0, 0, 0, 1, '/')
	transactions = request(1, 14, // a multi of one part, the check of a version
		0, 0, 0, 13, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, '/', 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff)
)

func request(xid, op int32, body ...byte) []byte {
	return frame(append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(xid)), uint32(op)), body...))
}

func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(from, body)
	return body, err
}

// greet asks a server for a session, or for the one that an earlier answer granted. It gives the
// connection and the answer, or nil where there is none.
func (l *lab) greet(server string, timeout time.Duration, before []byte) (conn net.Conn, answer []byte) {
	id := make([]byte, 8+4+16) // the session, and its password with the length
	binary.BigEndian.PutUint32(id[8:], 16)
	if before != nil {
		copy(id, before[4+4:])
	}
	ask := binary.BigEndian.AppendUint32(make([]byte, 4+8), uint32(timeout.Milliseconds()))
	conn, err := net.DialTimeout("tcp", server, scene.Bound)
	if err != nil {
		return nil, nil
	}
	_ = conn.SetDeadline(time.Now().Add(scene.Bound))
	if _, err = conn.Write(frame(append(append(ask, id...), 0))); err == nil {
		answer, err = readFrame(conn)
	}
	_ = conn.SetDeadline(time.Time{})
	if err != nil || binary.BigEndian.Uint32(answer[4:]) == 0 {
		_ = conn.Close()
		return nil, nil
	}
	return conn, answer
}

// ask begins to send a request every few milliseconds, in a session that outlives the test.
func (l *lab) ask(server string, request []byte) *asker {
	l.t.Helper()
	a := &asker{closed: make(chan struct{})}
	l.eventually("a session at "+server, func() bool {
		a.conn, a.hello = l.greet(server, long, nil)
		return a.conn != nil
	})
	var running sync.WaitGroup
	running.Go(a.read)
	running.Go(func() {
		for a.send(request) {
			select {
			case <-a.closed:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	l.t.Cleanup(func() {
		_ = a.conn.Close()
		running.Wait()
	})
	return a
}

func (a *asker) send(request []byte) bool {
	a.mu.Lock()
	a.sent = append(a.sent, time.Now())
	a.mu.Unlock()
	_, err := a.conn.Write(request)
	return err == nil
}

func (a *asker) read() {
	defer close(a.closed)
	for {
		body, err := readFrame(a.conn)
		a.mu.Lock()
		if err != nil {
			a.end, a.ended = err, time.Now()
			a.mu.Unlock()
			return
		}
		a.replies = append(a.replies, reply{time.Now(), int64(binary.BigEndian.Uint64(body[4:])),
			int32(binary.BigEndian.Uint32(body[12:]))})
		a.mu.Unlock()
	}
}

func (a *asker) all() []reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.replies)
}

// answeredSince counts the replies to requests that were sent at or after some time.
func (a *asker) answeredSince(from time.Time) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sent := range a.sent[:len(a.replies)] {
		if !sent.Before(from) {
			n++
		}
	}
	return n
}

// requireOneLeader: all replies are of one epoch, and none is an error.
func (a *asker) requireOneLeader(t *testing.T) {
	t.Helper()
	all := a.all()
	require.NotEmpty(t, all)
	for _, r := range all {
		// The upper half is the epoch of the leader by which a server goes.
		require.Equal(t, all[0].zxid>>32, r.zxid>>32, "a later leader's reply on a connection of the one before")
		require.Zero(t, r.code)
	}
}
