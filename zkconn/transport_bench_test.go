package zkconn

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sink is a connection that takes what is written and has nothing to read.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error)      { return len(p), nil }
func (sink) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkOutbox measures a frame on its way out, from several goroutines at once.
func BenchmarkOutbox(b *testing.B) {
	o := newOutbox(sink{}, anyPatience, func(err error) { b.Error(err) })
	defer o.close()
	frame := make([]byte, 200)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := o.put(frame); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// replies is a connection that has a connect reply to read, and then replies without end.
type replies struct {
	sink
	first, each []byte
	at          int
}

func (r *replies) Read(p []byte) (n int, err error) {
	for n < len(p) {
		frame := r.each
		if r.first != nil {
			frame = r.first
		}
		n += copy(p[n:], frame[r.at:])
		if r.at += n; r.first != nil || r.at >= len(frame) {
			r.first, r.at = nil, 0
			break
		}
	}
	return n, nil
}

func (r *replies) Close() error { return nil }

// quiet is a transport's observer that takes no note.
type quiet struct{}

func (quiet) replied(*transport, int32)      {}
func (quiet) sessionEnded(*transport, error) {}
func (quiet) failed(*transport, error)       {}

// established gives a transport that has a session, and replies to read.
func established(tb testing.TB, bytes int) *transport {
	tb.Helper()
	from := &replies{first: frameOf(connectReplyBody(0x55, 4000)), each: frameOf(append(replyHeader(xidPing, 0), make([]byte, bytes)...))}
	t := newTransport(from, "zk1:2181", time.Minute, &epochGuard{}, &wantedRequests{}, quiet{}, aKeeper())
	tb.Cleanup(func() { _ = t.Close() })
	_, err := t.Write(connectRequest(0))
	require.NoError(tb, err)
	readFrameInto(tb, t, make([]byte, 1<<20))
	return t
}

// readFrameInto reads as the library does: the length, and then the rest.
func readFrameInto(tb testing.TB, t *transport, buffer []byte) {
	if _, err := io.ReadFull(t, buffer[:lengthSize]); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.ReadFull(t, buffer[:binary.BigEndian.Uint32(buffer)]); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkTransportRead measures a reply on its way in, by its size.
func BenchmarkTransportRead(b *testing.B) {
	for name, bytes := range map[string]int{"small": 80, "a listing": 100_000} {
		b.Run(name, func(b *testing.B) {
			t, buffer := established(b, bytes), make([]byte, 1<<20)
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				readFrameInto(b, t, buffer)
			}
		})
	}
}

// BenchmarkTransportWrite measures a request on its way out, with the transport's inspection of it.
func BenchmarkTransportWrite(b *testing.B) {
	t := established(b, 80)
	frame := deleteRequest()
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := t.Write(frame); err != nil {
			b.Fatal(err)
		}
	}
}

// deleteRequest is a request of a usual size.
func deleteRequest() []byte {
	body := binary.BigEndian.AppendUint32(nil, 7)
	body = binary.BigEndian.AppendUint32(body, 2)
	body = append(body, text("/orders/42/_c_0b2f5a54-52a1-4c2f-9f0e-6d3c1f0f4b51-lock-0000000001")...)
	return frameOf(binary.BigEndian.AppendUint32(body, 0xffffffff))
}
