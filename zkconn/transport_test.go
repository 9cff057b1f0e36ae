package zkconn

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// recorder is a transport's observer.
type recorder struct {
	mu     sync.Mutex
	codes  []int32
	causes []error
}

func (r *recorder) sessionEnded(error) {}

func (r *recorder) replied(_ *transport, code int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.codes = append(r.codes, code)
}

func (r *recorder) failed(_ *transport, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.causes = append(r.causes, cause)
}

// pipeTransport gives a transport and the server's end of it.
func pipeTransport(t *testing.T, g *epochGuard) (*transport, net.Conn, *recorder) {
	t.Helper()
	client, server := net.Pipe()
	r := &recorder{}
	tr := newTransport(client, "zk1:2181", time.Minute, g, &wantedRequests{}, r, aKeeper())
	t.Cleanup(func() { _, _ = tr.Close(), server.Close() })
	return tr, server, r
}

// send writes to the transport's peer in the background; net.Pipe has no buffer.
func send(t *testing.T, to net.Conn, frames ...[]byte) {
	var sending sync.WaitGroup
	sending.Go(func() {
		for _, frame := range frames {
			if _, err := to.Write(frame); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = to.Close()
		sending.Wait()
	})
}

func aKeeper() *lease.Keeper { return lease.NewKeeper(nil, 0, true, new(lease.Shortest)) }

func connectRequest(session int64) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint32(b, 4000)
	b = binary.BigEndian.AppendUint64(b, uint64(session))
	return frameOf(append(b, text(string(make([]byte, 16)))...))
}

func TestTransportPassesFramesOn(t *testing.T) {
	var g epochGuard
	tr, server, seen := pipeTransport(t, &g)
	hello := frameOf(connectReplyBody(0x55, 4000))
	event := frameOf(append(replyHeader(xidEvent, 0), concat(number(1), number(3), text("/a"))...))
	tr.asked.sends(7, question{op: opGetData})
	reply := frameOf(append(replyHeader(7, -101), make([]byte, 100_000)...))
	send(t, server, hello[:5], append(hello[5:], event...), reply)

	for _, frame := range [][]byte{hello, event, reply} {
		got := make([]byte, 4)
		_, err := io.ReadFull(tr, got)
		require.NoError(t, err)
		require.Equal(t, frame[:4], got)
		got = make([]byte, len(frame)-4)
		_, err = io.ReadFull(tr, got)
		require.NoError(t, err)
		require.Equal(t, frame[4:], got)
	}
	require.EqualValues(t, 0x55, g.sessionID.Load())
	require.Equal(t, 4*time.Second, g.sessionTimeout())
	require.Equal(t, []int32{-101}, seen.codes, "an event is no reply")
}

func TestTransportReadsNoFurtherThanAFrame(t *testing.T) {
	tr, server, _ := pipeTransport(t, &epochGuard{})
	hello := frameOf(connectReplyBody(0x55, 4000))
	send(t, server, append(hello, frameOf(replyHeader(1, 0))...))
	got := make([]byte, 1000)
	n, err := tr.Read(got)
	require.NoError(t, err)
	require.Equal(t, len(hello), n)
}

func TestTransportBoundsFrames(t *testing.T) {
	hello := frameOf(connectReplyBody(0x55, 4000))
	length := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for name, frames := range map[string][][]byte{
		"connect reply too long":  {length(2000)},
		"connect reply too short": {frameOf(make([]byte, 8))},
		"password beyond it":      {frameOf(concat(make([]byte, 16), number(0x7fffffff), make([]byte, 16)))},
		"no session":              {frameOf(connectReplyBody(0, 0))},
		"no timeout":              {frameOf(connectReplyBody(5, 0))},
		"reply too long":          {hello, length(maxFrame + 1)},
		"reply of negative size":  {hello, length(1 << 31)},
		"reply too short":         {hello, frameOf(make([]byte, replyHeaderSize-1))},
	} {
		before := allocated()
		tr, server, seen := pipeTransport(t, &epochGuard{})
		send(t, server, frames...)
		_, err := io.Copy(io.Discard, tr)
		require.ErrorContains(t, err, "zk1:2181", name)
		require.Len(t, seen.causes, 1, name)
		_, err = server.Write([]byte{1})
		require.Error(t, err, "%s: the connection is closed", name)
		require.Less(t, allocated()-before, uint64(1<<20), "%s: bytes", name)
	}
}

// A length is no reason to make room for a frame.
func TestTransportBelievesNoLength(t *testing.T) {
	tr, server, _ := pipeTransport(t, &epochGuard{})
	before := allocated()
	go func() {
		_, _ = server.Write(concat(frameOf(connectReplyBody(0x55, 4000)), number(maxFrame), make([]byte, 100_000)))
		_ = server.Close()
	}()
	_, err := io.Copy(io.Discard, tr)
	require.ErrorContains(t, err, "zk1:2181")
	require.Less(t, allocated()-before, uint64(1<<20), "bytes")
}

func TestTransportSwallowsAFailedWrite(t *testing.T) {
	tr, server, seen := pipeTransport(t, &epochGuard{})
	tr.requested = true
	require.NoError(t, server.Close())
	frame := frameOf(replyHeader(1, 0))
	for range 2 {
		n, err := tr.Write(frame)
		require.NoError(t, err)
		require.Equal(t, len(frame), n)
	}
	require.Len(t, seen.causes, 1, "told once")
	_, err := tr.Read(make([]byte, 1))
	require.Error(t, err)
	require.Len(t, seen.causes, 1)
}

func TestTransportClampsTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer func() { _, _ = client.Close(), server.Close() }()
		start := time.Now()
		tr := newTransport(client, "zk1:2181", 3*time.Second, &epochGuard{}, &wantedRequests{}, &recorder{}, aKeeper())
		require.NoError(t, tr.SetReadDeadline(start.Add(time.Hour)))
		require.NoError(t, tr.SetReadDeadline(time.Time{}), "lifted by the library between the parts of the reply")
		_, err := tr.Read(make([]byte, 4))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestTransportHonoursDeadlinesAfterTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer func() { _, _ = client.Close(), server.Close() }()
		tr := newTransport(client, "zk1:2181", time.Second, &epochGuard{}, &wantedRequests{}, &recorder{}, aKeeper())
		go func() { _, _ = server.Write(frameOf(connectReplyBody(0x55, 4000))) }()
		require.NoError(t, tr.SetReadDeadline(time.Time{}))
		_, err := io.ReadFull(tr, make([]byte, 4+36))
		require.NoError(t, err)
		start := time.Now()
		require.NoError(t, tr.SetReadDeadline(start.Add(time.Hour)))
		_, err = tr.Read(make([]byte, 4))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Hour, time.Since(start))
	})
}

func TestEpochGuard(t *testing.T) {
	var g epochGuard
	require.NoError(t, g.mayRequest(0))
	require.Error(t, g.mayRequest(5), "a session that this epoch has not had")
	require.ErrorIs(t, g.granted(connectReply{}), errNoSession)
	require.NoError(t, g.granted(connectReply{sessionID: 5, timeout: time.Second}))
	require.NoError(t, g.mayRequest(5))
	require.Error(t, g.mayRequest(0), "never asks for a second session")
	require.Error(t, g.granted(connectReply{sessionID: 6, timeout: time.Second}))
	require.False(t, g.over.Load())
	require.NoError(t, g.granted(connectReply{}), "the library is told of the expiry")
	require.True(t, g.over.Load())
	require.ErrorIs(t, g.mayRequest(0), errEpochOver)
	require.ErrorIs(t, g.mayRequest(5), errEpochOver)
	require.ErrorIs(t, g.granted(connectReply{sessionID: 5, timeout: time.Second}), errEpochOver)
	require.EqualValues(t, 5, g.sessionID.Load())
}

func TestTransportRefusesASecondSession(t *testing.T) {
	var g epochGuard
	require.NoError(t, g.granted(connectReply{sessionID: 5, timeout: time.Second}))
	tr, server, _ := pipeTransport(t, &g)
	_, err := tr.Write(connectRequest(0))
	require.Error(t, err)
	_, err = server.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "nothing was sent")
}

// request gives a frame as the library writes it.
func request(op int32, path string, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, 99)
	b = binary.BigEndian.AppendUint32(b, uint32(op))
	return frameOf(append(append(b, text(path)...), rest...))
}

func TestWatchByte(t *testing.T) {
	var w wantedRequests
	leaves := func(frame []byte) []byte {
		_, op := requestHead(frame)
		if want := w.goesOut(op, frame); want != nil && want.op != opCreate {
			return watched(frame)
		}
		return frame
	}
	one, other := w.want(opGetData, "/a/b", nil), w.want(opGetData, "/a/b", nil)
	frame := request(opGetData, "/a/b", 0)
	require.Equal(t, request(opGetData, "/a/b", 1), leaves(frame))
	require.Equal(t, request(opGetData, "/a/b", 0), frame, "a Writer must not modify what it is given")
	for _, other := range [][]byte{
		request(opGetData, "/a/c", 0), request(opGetData, "/a/b"), request(opGetData, "/a/b", 0, 0), request(opExists, "/a/b", 0),
		request(opGetData, "/a/b", 0)[:20], frameOf([]byte{1, 2, 3}), frameOf(nil), nil, {1},
		frameOf(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, opGetData), 1<<31)),
		frameOf(binary.BigEndian.AppendUint64(nil, opGetData)),
	} {
		require.Equal(t, other, leaves(other))
	}
	one.done()
	require.Equal(t, byte(1), leaves(frame)[len(frame)-1], "the other call is still under way")
	other.done()
	require.Equal(t, frame, leaves(frame))
	require.Empty(t, w.all, "nothing is left behind")
}

func TestContainerOperation(t *testing.T) {
	flags := func(op, flags int32) []byte {
		return request(op, "/a", binary.BigEndian.AppendUint32(make([]byte, 8), uint32(flags))...)
	}
	frame := flags(opCreate, zk.FlagContainer)
	require.Equal(t, flags(opCreateContainer, zk.FlagContainer), nameContainerOp(frame))
	require.Equal(t, flags(opCreate, zk.FlagContainer), frame)
	for _, other := range [][]byte{flags(opCreate, 0), flags(opCreate, zk.FlagEphemeralSequential), flags(opMulti, zk.FlagContainer), nil} {
		require.Equal(t, other, nameContainerOp(other))
	}
}

func TestUserDialerMayReturnNothing(t *testing.T) {
	cfg, err := NewConfig("h", WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, nil }))
	require.NoError(t, err)
	_, err = cfg.dialOne(t.Context(), "tcp", "h:2181", "h")
	require.Error(t, err)
}
