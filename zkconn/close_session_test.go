package zkconn

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// strange is a server on which each connection does what the next script says.
func strange(t *testing.T, scripts ...func(server net.Conn)) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	next := make(chan func(net.Conn), len(scripts))
	for _, script := range scripts {
		next <- script
	}
	return func(context.Context, string, string) (net.Conn, error) {
		select {
		case script := <-next:
			client, server := net.Pipe()
			go func() {
				defer func() { _ = server.Close() }()
				script(server)
			}()
			return client, nil
		default:
			return nil, errors.New("nobody listens any more")
		}
	}
}

// greets answers the connect request as if for a session.
func greets(session int64, then func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := readFrame(conn); err == nil && writeFrame(conn, connectReplyBody(session, 4000)) == nil {
			then(conn)
		}
	}
}

// answers reads a request and answers with a frame.
func answers(body []byte) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := readFrame(conn); err == nil {
			_ = writeFrame(conn, body)
		}
	}
}

func closing(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), opts ...Option) Config {
	t.Helper()
	cfg, err := NewConfig("unused:1", append([]Option{
		WithDialer(dial), WithSessionTimeout(40 * time.Second), WithReconnectBackoff(time.Millisecond, 2*time.Millisecond),
	}, opts...)...)
	require.NoError(t, err)
	return cfg
}

const strangerID = 0x1234

var strangerPassword = []byte("0123456789abcdef")

func TestCloseSessionSaysWhatTheProtocolAsksFor(t *testing.T) {
	hello, bye := make(chan []byte, 1), make(chan []byte, 1)
	cfg := closing(t, strange(t, func(conn net.Conn) {
		first, err := readFrame(conn)
		if err != nil {
			return
		}
		hello <- first
		if writeFrame(conn, connectReplyBody(strangerID, 4000)) != nil {
			return
		}
		second, err := readFrame(conn)
		if err != nil {
			return
		}
		bye <- second
		_ = writeFrame(conn, append(replyHeader(xidEvent, 0), make([]byte, 12)...)) // what is no answer is passed over
		_ = writeFrame(conn, replyHeader(farewellXid, 0))
	}))
	existed, err := CloseSession(t.Context(), cfg, "h", strangerID, strangerPassword)
	require.NoError(t, err)
	require.True(t, existed)

	first := <-hello
	require.Zero(t, binary.BigEndian.Uint32(first), "protocol version")
	require.Zero(t, binary.BigEndian.Uint64(first[4:]), "last zxid seen")
	require.EqualValues(t, 1, binary.BigEndian.Uint32(first[12:]), "timeout")
	require.EqualValues(t, strangerID, binary.BigEndian.Uint64(first[16:]))
	require.EqualValues(t, 16, binary.BigEndian.Uint32(first[24:]))
	require.Equal(t, append(append([]byte{}, strangerPassword...), 0), first[28:])
	require.Equal(t, []byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5}, <-bye, "xid 1, closeSession")
}

func TestCloseSessionThatIsOver(t *testing.T) {
	cfg := closing(t, strange(t, greets(0, func(net.Conn) {})))
	existed, err := CloseSession(t.Context(), cfg, "h", strangerID, strangerPassword)
	require.NoError(t, err)
	require.False(t, existed)
}

// After any answer of a server, or none, another attempt follows. A lost reply is resolved.
func TestCloseSessionTriesAgain(t *testing.T) {
	gone := greets(0, func(net.Conn) {})
	for name, first := range map[string]func(net.Conn){
		"hangs up":              func(net.Conn) {},
		"hangs up when greeted": func(conn net.Conn) { _, _ = readFrame(conn) },
		"short greeting":        answers(make([]byte, 7)),
		"long greeting":         answers(make([]byte, 2000)),
		"error":                 greets(strangerID, answers(replyHeader(farewellXid, 118))),
		"short answer":          greets(strangerID, answers([]byte{0, 0, 0, 1})),
		"huge answer": greets(strangerID, func(conn net.Conn) {
			_, _ = readFrame(conn)
			_, _ = conn.Write([]byte{0xff, 0xff, 0xff, 0xff})
		}),
		"answer lost": greets(strangerID, func(conn net.Conn) { _, _ = readFrame(conn) }),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := closing(t, strange(t, first, gone))
			_, err := CloseSession(t.Context(), cfg, "h", strangerID, strangerPassword)
			require.NoError(t, err)
		})
	}
	t.Run("known before", func(t *testing.T) {
		lost := greets(strangerID, func(conn net.Conn) { _, _ = readFrame(conn) })
		existed, err := CloseSession(t.Context(), closing(t, strange(t, lost, gone)), "h", strangerID, strangerPassword)
		require.NoError(t, err)
		require.True(t, existed, "the first attempt was let in")
	})
}

// A server that hands out another session would do so at each attempt. The one that it has handed out is closed.
func TestCloseSessionOfAServerThatSwaps(t *testing.T) {
	closed := make(chan []byte, 1)
	swaps := greets(strangerID+1, func(conn net.Conn) {
		frame, _ := readFrame(conn)
		closed <- frame
		_ = writeFrame(conn, replyHeader(farewellXid, 0))
	})
	never := func(net.Conn) { t.Error("it is asked again") }
	existed, err := CloseSession(t.Context(), closing(t, strange(t, swaps, never)), "h", strangerID, strangerPassword)
	require.ErrorIs(t, err, ErrOtherSession)
	require.ErrorContains(t, err, "0x1234")
	require.False(t, existed)
	require.Equal(t, closeSessionFrame()[lengthSize:], <-closed)
}

func TestCloseSessionGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent := func(conn net.Conn) {
		_, _ = readFrame(conn)
		cancel()
		_, _ = readFrame(conn) // until the client gives up
	}
	_, err := CloseSession(ctx, closing(t, strange(t, silent)), "h:7/app", strangerID, strangerPassword)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "0x1234")
	require.ErrorContains(t, err, "h:7")

	ctx, cancel = context.WithCancel(t.Context())
	tries := 0
	_, err = CloseSession(ctx, closing(t, func(context.Context, string, string) (net.Conn, error) {
		if tries++; tries == 20 {
			cancel()
		}
		return nil, errors.New("no route for a test")
	}), "a,b,c", strangerID, strangerPassword)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "no route for a test")
}

func TestCloseSessionRefusesBadInput(t *testing.T) {
	_, err := CloseSession(t.Context(), Config{}, "h", strangerID, strangerPassword)
	require.ErrorIs(t, err, ErrBadConfig)
	_, err = CloseSession(t.Context(), closing(t, strange(t)), "h:port", strangerID, strangerPassword)
	require.ErrorIs(t, err, ErrBadConfig)
}

// On a server: any of the servers will do, the password counts, and the ephemeral nodes are gone with the answer.
func TestCloseSessionOnServer(t *testing.T) {
	server := embedded.Run(t, embedded.WithReplicas(3))
	cfg, err := NewConfig(server.Connect(), WithSessionTimeout(30*time.Second))
	require.NoError(t, err)
	events := make(chan Event, 1000)
	c, err := Dial(cfg, 1, func(e Event) { events <- e })
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	// Whether it is connected by now is a matter of time.
	require.False(t, c.Ended())
	expect(t, events, Connected)
	require.Len(t, c.SessionPassword(), 16)
	require.False(t, c.Ended())

	existed, err := CloseSession(t.Context(), cfg, server.Connect(), c.SessionID(), make([]byte, 16))
	require.NoError(t, err)
	require.False(t, existed, "a wrong password")
	require.Contains(t, server.Sessions(), c.SessionID())

	for i := range 3 {
		require.Len(t, server.Sessions(), 1, "before member %d", i)
		existed, err = CloseSession(t.Context(), cfg, server.Addrs()[i], c.SessionID(), c.SessionPassword())
		require.NoError(t, err)
		require.True(t, existed)
		require.Empty(t, server.Sessions())
		for nextEvent(t, events).Kind != Expired {
		}
		require.True(t, c.Ended())
		c.Close()
		c, err = Dial(cfg, uint64(i+2), func(e Event) { events <- e })
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		expect(t, events, Connected)
	}
	c.Close()
	require.True(t, c.Ended(), "the server has said so")
}

// A session that is refreshed lives on for its whole timeout, and what is its own stays.
func TestRefreshSession(t *testing.T) {
	clock := embedded.NewManualClock(time.Unix(1e9, 0))
	server := embedded.Run(t, embedded.WithClock(clock), embedded.WithTick(time.Second))
	cfg, err := NewConfig(server.Connect(), WithSessionTimeout(10*time.Second))
	require.NoError(t, err)
	events := make(chan Event, 1000)
	c, err := Dial(cfg, 1, func(e Event) { events <- e })
	require.NoError(t, err)
	expect(t, events, Connected)
	id, password := c.SessionID(), c.SessionPassword()
	c.Abandon()
	clock.Advance(8 * time.Second)
	existed, err := RefreshSession(t.Context(), cfg, server.Connect(), id, make([]byte, 16), 10*time.Second)
	require.NoError(t, err)
	require.False(t, existed, "a wrong password")
	existed, err = RefreshSession(t.Context(), cfg, server.Connect(), id, password, 10*time.Second)
	require.NoError(t, err)
	require.True(t, existed)
	clock.Advance(8 * time.Second)
	require.Contains(t, server.Sessions(), id)
	clock.Advance(4 * time.Second)
	require.Empty(t, server.Sessions())
	existed, err = RefreshSession(t.Context(), cfg, server.Connect(), id, password, 10*time.Second)
	require.NoError(t, err)
	require.False(t, existed)
	_, err = RefreshSession(t.Context(), Config{}, "h", id, password, time.Second)
	require.ErrorIs(t, err, ErrBadConfig)
}
