package embedded_test

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// patience bounds a wait for something that must come. Nothing that passes takes that long.
const patience = 60 * time.Second

// until waits for a change that nobody announces.
func until(t testing.TB, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !done(); runtime.Gosched() {
		require.True(t, time.Now().Before(limit), "it has not come to pass")
	}
}

// rawClient speaks the protocol frame by frame. It sends a frame only when told to, and never pings
// or reconnects, because a real client hides by that what a server does.
type rawClient struct {
	t        testing.TB
	stream   net.Conn
	xid      int32
	session  int64
	password []byte
	timeout  time.Duration // as negotiated

	mu     sync.Mutex
	frames [][]byte // received, and not taken yet
	ended  bool
	change chan struct{} // closed when one of them changes
}

// dialRaw connects without the network, and asks for no session yet.
func dialRaw(t testing.TB, s *embedded.Server, replica int) *rawClient {
	t.Helper()
	stream, err := s.Dialer()("tcp", s.Replica(replica).Addr(), patience)
	require.NoError(t, err)
	return newRaw(t, stream)
}

// overNetwork connects through the network, and asks for no session yet.
func overNetwork(t testing.TB, addr string) *rawClient {
	t.Helper()
	stream, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	return newRaw(t, stream)
}

// newRaw makes a client of a connection, and reads from it for as long as it lasts: a server that writes
// to an in-memory connection waits for its reader.
func newRaw(t testing.TB, stream net.Conn) *rawClient {
	c := &rawClient{t: t, stream: stream, change: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.receive()
	}()
	t.Cleanup(func() {
		_ = stream.Close()
		<-done
	})
	return c
}

func (c *rawClient) receive() {
	for {
		var head [4]byte
		_, err := io.ReadFull(c.stream, head[:])
		var frame []byte
		if err == nil {
			frame = make([]byte, binary.BigEndian.Uint32(head[:]))
			_, err = io.ReadFull(c.stream, frame)
		}
		c.mu.Lock()
		if err == nil {
			c.frames = append(c.frames, frame)
		}
		c.ended = err != nil
		close(c.change)
		c.change = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take waits for a frame; nil when the connection has been closed after the last one.
func (c *rawClient) take() []byte {
	c.t.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		change := c.change
		if len(c.frames) > 0 {
			frame := c.frames[0]
			c.frames = c.frames[1:]
			c.mu.Unlock()
			return frame
		}
		ended := c.ended
		c.mu.Unlock()
		if ended {
			return nil
		}
		select {
		case <-change:
		case <-limit:
			require.FailNow(c.t, "no frame came, and the connection is open")
		}
	}
}

// quiet asserts that nothing has come so far. It proves something only where what could have come would
// have come first.
func (c *rawClient) quiet() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(c.t, c.frames)
	require.False(c.t, c.ended, "the connection was closed")
}

// closed waits until the server closes the connection, and asserts that nothing comes before.
func (c *rawClient) closed() {
	c.t.Helper()
	require.Nil(c.t, c.take(), "a frame came, where the connection was to be closed")
}

// openRaw connects to a replica and opens a session.
func openRaw(t testing.TB, s *embedded.Server, replica int, timeout time.Duration) *rawClient {
	t.Helper()
	c := dialRaw(t, s, replica)
	require.True(t, c.open(timeout), "no session")
	return c
}

// open asks for a new session.
func (c *rawClient) open(timeout time.Duration) bool {
	c.t.Helper()
	c.greet(0, timeout, 0, make([]byte, 16))
	return c.welcomed()
}

// resume asks for another client's session, as one does that has lost its connection.
func (c *rawClient) resume(old *rawClient) bool {
	c.t.Helper()
	c.greet(0, old.timeout, old.session, old.password)
	return c.welcomed()
}

// greet sends the handshake.
func (c *rawClient) greet(seen int64, timeout time.Duration, session int64, password []byte) {
	c.t.Helper()
	c.write(encode(int32(0), seen, int32(timeout.Milliseconds()), session, password, false))
}

// welcomed waits for the answer to the handshake: false when the session is refused, or the connection
// closed.
func (c *rawClient) welcomed() bool {
	c.t.Helper()
	frame := c.take()
	if frame == nil {
		return false
	}
	r := record{t: c.t, left: frame}
	r.int32()
	c.timeout = time.Duration(r.int32()) * time.Millisecond
	c.session = r.int64()
	c.password = r.bytes()
	return c.session != 0
}

// write sends frames in one piece, so that a server finds all of them at once.
func (c *rawClient) write(frames ...[]byte) {
	c.t.Helper()
	require.NoError(c.t, c.tryWrite(frames...))
}

// tryWrite is write where the server may close the connection in the middle.
func (c *rawClient) tryWrite(frames ...[]byte) error {
	var all []byte
	for _, frame := range frames {
		all = binary.BigEndian.AppendUint32(all, uint32(len(frame)))
		all = append(all, frame...)
	}
	_ = c.stream.SetWriteDeadline(time.Now().Add(patience))
	_, err := c.stream.Write(all)
	return err
}

// request makes the frame of a request, under the next number.
func (c *rawClient) request(op embedded.Op, fields ...any) []byte {
	c.xid++
	if op == embedded.OpPing {
		return encode(int32(-2), int32(op))
	}
	return append(encode(c.xid, int32(op)), encode(fields...)...)
}

// send sends a request and waits for nothing.
func (c *rawClient) send(op embedded.Op, fields ...any) {
	c.t.Helper()
	c.write(c.request(op, fields...))
}

// call sends a request and waits for the next thing that comes, which is to be its reply.
func (c *rawClient) call(op embedded.Op, fields ...any) reply {
	c.t.Helper()
	c.send(op, fields...)
	r := c.reply()
	want := c.xid
	if op == embedded.OpPing {
		want = -2
	}
	require.Equal(c.t, want, r.xid, "something else came before the reply to %v", op)
	return r
}

// ping proves that the connection answers, and that everything before has been answered.
func (c *rawClient) ping() {
	c.t.Helper()
	c.call(embedded.OpPing)
}

// leave closes the connection from this side, and not the session.
func (c *rawClient) leave() { _ = c.stream.Close() }

// reply waits for a frame that is a reply, or an event.
func (c *rawClient) reply() reply {
	c.t.Helper()
	frame := c.take()
	require.NotNil(c.t, frame, "the connection was closed")
	r := record{t: c.t, left: frame}
	return reply{xid: r.int32(), zxid: r.int64(), code: r.int32(), record: r}
}

// event waits for a frame that is a watch event, in words: "deleted /a".
func (c *rawClient) event() string {
	c.t.Helper()
	r := c.reply()
	require.Equal(c.t, int32(-1), r.xid, "no event, but a reply")
	names := map[int32]string{1: "created", 2: "deleted", 3: "changed", 4: "children"}
	what := names[r.int32()]
	r.int32()
	return what + " " + r.text()
}

// monitored asks a replica for one of the numbers that the four-letter word mntr gives.
func monitored(t testing.TB, s *embedded.Server, replica int, name string) int {
	t.Helper()
	stream, err := s.Dialer()("tcp", s.Replica(replica).Addr(), patience)
	require.NoError(t, err)
	_, err = stream.Write([]byte("mntr"))
	require.NoError(t, err)
	text, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.NoError(t, stream.Close())
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "zk_"+name+"\t"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			require.NoError(t, err)
			return n
		}
	}
	require.FailNow(t, "mntr names no "+name, string(text))
	return 0
}
