package embedded_test

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// badFrames are frames that no client sends: each ends its connection.
var badFrames = map[string][]byte{
	"one byte too long":         {0, 0x10, 0, 0},
	"as long as can be":         {0x7f, 0xff, 0xff, 0xff},
	"negative":                  {0x80, 0, 0, 0},
	"minus one":                 {0xff, 0xff, 0xff, 0xff},
	"without anything":          {0, 0, 0, 0},
	"too short for its header":  {0, 0, 0, 4, 0, 0, 0, 1},
	"a byte short for one":      {0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0},
	"a request of another kind": append([]byte{0, 0, 0, 3}, "GET / HTTP/1.1\r\n\r\n"...),
}

func TestBadFramesEndTheirConnectionOnly(t *testing.T) {
	s := embedded.Run(t)
	other := bystander(t, s)
	for way, dial := range reaches {
		for name, bad := range badFrames {
			t.Run(way+"/"+name, func(t *testing.T) {
				stream := dial(t, s)
				_, err := stream.Write(bad)
				require.NoError(t, err)
				require.Empty(t, awaitEnd(t, stream), "instead of a handshake")
				unharmed(t, other)

				stream = dial(t, s)
				_, err = stream.Write(frames(handshake()))
				require.NoError(t, err)
				session := readGreeting(t, stream)
				_, err = stream.Write(bad)
				require.NoError(t, err)
				require.Empty(t, awaitEnd(t, stream), "instead of a request")
				require.Contains(t, s.Sessions(), session, "a session outlives its connections")
				unharmed(t, other)
			})
		}
	}
}

// Requests before the bad frame are carried out and answered.
func TestRequestsBeforeABadFrameAreAnswered(t *testing.T) {
	s := embedded.Run(t)
	stream := overPipe(t, s)
	sent := frames(handshake(), frameOf(1, embedded.OpCreate, createOf("/a", plain)),
		frameOf(2, embedded.OpExists, "/a", false))
	_, err := stream.Write(append(sent, 0x80, 0, 0, 0))
	require.NoError(t, err)
	readGreeting(t, stream)
	for xid := int32(1); xid <= 2; xid++ {
		require.Equal(t, xid, readReply(t, stream).must().xid)
	}
	require.Empty(t, awaitEnd(t, stream))
}

func TestFrameOfTheLimitPasses(t *testing.T) {
	for _, limit := range []int{maxFrame, 200} {
		s := embedded.Run(t, embedded.WithMaxFrame(limit))
		other := bystander(t, s)
		for way, dial := range reaches {
			c := newRaw(t, dial(t, s))
			require.True(t, c.open(patience))
			path := "/" + way
			empty := len(frameOf(1, embedded.OpCreate, path, []byte{}, openACL, plain))
			data := make([]byte, limit-empty)
			data[len(data)-1] = 7
			c.call(embedded.OpCreate, path, data, openACL, plain).must()
			read := c.call(embedded.OpGetData, path, false).must()
			require.Equal(t, data, read.bytes())

			_, err := c.stream.Write(binary.BigEndian.AppendUint32(nil, uint32(limit+1)))
			require.NoError(t, err)
			c.closed()
			unharmed(t, other)
		}
	}
}

// A client that stops in the middle of a frame is as one that is silent: its connection ends with its time.
func TestHalfAFrameEndsWithTheTimeout(t *testing.T) {
	clock := embedded.NewManualClock(time.Unix(1e9, 0))
	s := embedded.Run(t, embedded.WithClock(clock), embedded.WithTick(time.Second))
	other := bystander(t, s)
	halves := []net.Conn{overPipe(t, s), overTCP(t, s)}
	for _, stream := range halves {
		_, err := stream.Write(frames(handshake()))
		require.NoError(t, err)
		readGreeting(t, stream)
		request := frames(frameOf(1, embedded.OpGetChildren, "/", false))
		_, err = stream.Write(request[:len(request)/2])
		require.NoError(t, err)
	}
	for range 4 {
		clock.Advance(4 * time.Second)
		other.ping()
	}
	for _, stream := range halves {
		require.Empty(t, awaitEnd(t, stream))
	}
	require.Equal(t, []int64{other.session}, s.Sessions())
	unharmed(t, other)
}

// An operation that the server does not know is answered, and then the connection is closed.
func TestUnknownOperation(t *testing.T) {
	s := embedded.Run(t)
	other := bystander(t, s)
	for _, op := range []embedded.Op{0, 10, 23, 77, 99, 108, -1, -2, 1 << 30, -1 << 31} {
		c := openRaw(t, s, 0, patience)
		r := c.call(op, "/a", true)
		require.Equal(t, unknownOperation, r.code, "%v", op)
		require.Empty(t, r.left)
		c.closed()
		require.Contains(t, s.Sessions(), c.session)
		unharmed(t, other)
	}
}

// The handling of a frame takes no time that grows with the square of its size: the server's lock is held meanwhile.
// Nothing here measures it, but a test that ran into the square would not end.
func TestRequestsOfManyPartsAreQuick(t *testing.T) {
	const many = 20_000
	s := embedded.Run(t)
	other := bystander(t, s)
	c := openRaw(t, s, 0, patience)
	var list []access
	var parts []raw
	var paths []string
	for i := range int32(many) {
		list = append(list, access{i, "world", "anyone"})
		parts = append(parts, partOf(embedded.OpCheck, "/", anyVersion))
		paths = append(paths, "/"+string(rune('a'+i)))
	}
	c.call(embedded.OpCreate, "/listed", []byte{}, list, plain).must()
	unharmed(t, other)
	c.call(embedded.OpSetACL, "/listed", append(list, list[0]), anyVersion).must()
	r := c.call(embedded.OpGetACL, "/listed").must()
	require.Equal(t, int32(many), r.int32(), "what is there twice counts once")
	c.call(embedded.OpMulti, multiOf(parts...)).must()
	unharmed(t, other)
	c.call(embedded.OpSetWatches2, int64(1<<40), []string{}, paths, []string{}, paths, []string{}).must()
	unharmed(t, other)
}
