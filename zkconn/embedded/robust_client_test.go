package embedded_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// The results that only the tests with odd requests speak of.
const unknownOperation = int32(-6)

// maxFrame is the longest frame that a server takes unless told otherwise.
const maxFrame = 1_048_575

// reaches are the two ways to a server: what holds for the one is to hold for the other.
var reaches = map[string]func(testing.TB, *embedded.Server) net.Conn{"TCP": overTCP, "pipe": overPipe}

func overTCP(t testing.TB, s *embedded.Server) net.Conn {
	t.Helper()
	stream, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	return bounded(t, stream)
}

func overPipe(t testing.TB, s *embedded.Server) net.Conn {
	t.Helper()
	stream, err := s.Dialer()("tcp", s.Addr(), patience)
	require.NoError(t, err)
	return bounded(t, stream)
}

func bounded(t testing.TB, stream net.Conn) net.Conn {
	require.NoError(t, stream.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// frames puts the length in front of each.
func frames(all ...[]byte) (stream []byte) {
	for _, frame := range all {
		stream = append(stream, encode(frame)...)
	}
	return stream
}

// handshake is the frame that asks for a new session.
func handshake() []byte {
	return encode(int32(0), int64(0), int32(10_000), int64(0), make([]byte, 16), false)
}

// frameOf is the frame of a request.
func frameOf(xid int32, op embedded.Op, fields ...any) []byte {
	return append(encode(xid, int32(op)), encode(fields...)...)
}

// readReply reads the next frame, where no goroutine does.
func readReply(t testing.TB, stream io.Reader) reply {
	t.Helper()
	head := record{t: t, left: make([]byte, 4)}
	_, err := io.ReadFull(stream, head.left)
	require.NoError(t, err)
	r := record{t: t, left: make([]byte, head.int32())}
	_, err = io.ReadFull(stream, r.left)
	require.NoError(t, err)
	return reply{xid: r.int32(), zxid: r.int64(), code: r.int32(), record: r}
}

// readGreeting reads the answer to a handshake and gives the session.
func readGreeting(t testing.TB, stream io.Reader) int64 {
	t.Helper()
	frame := make([]byte, 4+37)
	_, err := io.ReadFull(stream, frame)
	require.NoError(t, err)
	r := record{t: t, left: frame[12:]}
	return r.int64()
}

// awaitEnd reads until the server closes the connection, and gives what came before.
func awaitEnd(t testing.TB, stream io.Reader) []byte {
	t.Helper()
	rest, err := io.ReadAll(stream)
	var late net.Error
	if err != nil {
		// A server that closes with unread input resets the connection.
		require.False(t, errors.As(err, &late) && late.Timeout(), "the connection is open")
	}
	return rest
}

// bystander is a client whose work must go on while others misbehave. It has a node, and a watch on
// another.
func bystander(t testing.TB, s *embedded.Server) *rawClient {
	t.Helper()
	c := newRaw(t, overPipe(t, s))
	require.True(t, c.open(patience))
	c.create("/bystander", ephemeral)
	c.call(embedded.OpExists, "/watched", true)
	return c
}

// unharmed has the bystander use everything that it has.
func unharmed(t testing.TB, c *rawClient) {
	t.Helper()
	require.True(t, c.exists("/bystander"))
	c.send(embedded.OpCreate, createOf("/watched", plain))
	require.Equal(t, "created /watched", c.event())
	c.reply().must()
	c.delete("/watched")
	c.call(embedded.OpExists, "/watched", true)
}
