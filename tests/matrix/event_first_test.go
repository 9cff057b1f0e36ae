package matrix

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/turnstile-locks/turnstile/locks"
)

// Events and replies come in order over the wire, but from there on they go different ways to the session
// actor. Here the wire itself has them in the wrong order, which is the worst that can come of it.
var eventFirstCells = append(absurd(eventFirst, "it sets no watch", but(watch)...), cell{
	request: watch, fault: eventFirst,
	outcome: "the event counts: the watcher was registered before the request was sent; the reply that comes behind it changes nothing",
	course:  andBack(stCreating, stListing, stWatching),
	at:      stage{dial: newSwap},
	strike: func(t *testing.T, s *scene) {
		s.swap.armed.Store(true)
		s.trigger(t)
		<-s.swap.kept
	},
})

// swap is a dialer whose connections keep, once it is armed, the first reply to a read that watches
// a contender's node until an event has passed. (Earlier reads pass: a holder watches its own node,
// and a holder that gives back a contest reads it.)
type swap struct {
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	armed atomic.Bool
	kept  chan struct{} // closed when there is a reply that waits
	xid   chan int32    // of the read
}

func newSwap(s *scene) locks.Option {
	s.swap = &swap{dial: s.server.DialContext, kept: make(chan struct{}), xid: make(chan int32, 1)}
	return locks.WithDialer(s.swap.connect)
}

func (w *swap) connect(ctx context.Context, network, address string) (net.Conn, error) {
	server, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	go w.requests(far, server)
	go w.replies(server, far)
	return near, nil
}

// requests passes what the client sends, and notes the number of its first read of a contender's node.
func (w *swap) requests(from, to net.Conn) {
	defer to.Close()
	for noted := false; ; {
		frame, err := readFrame(from)
		if err != nil {
			return
		}
		const getData = "\x00\x00\x00\x04"
		body := frame[4:]
		watches := body[len(body)-1] == 1
		if w.armed.Load() && !noted && string(body[4:8]) == getData && watches && bytes.HasPrefix(body[12:], []byte(lockPath+"/")) {
			noted = true
			w.xid <- int32(binary.BigEndian.Uint32(body))
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

// replies passes what the server sends, but for the one reply, which goes behind the next event.
func (w *swap) replies(from, to net.Conn) {
	defer to.Close()
	var waiting []byte
	wanted := int32(0) // the connect reply has this place, and no request this number
	for {
		frame, err := readFrame(from)
		if err != nil {
			return
		}
		select {
		case wanted = <-w.xid:
		default:
		}
		const event = -1
		xid := int32(binary.BigEndian.Uint32(frame[4:]))
		if xid == wanted && wanted != 0 {
			waiting = frame
			wanted = 0
			close(w.kept)
			continue
		}
		if xid == event && waiting != nil {
			frame, waiting = append(frame, waiting...), nil
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

// readFrame reads one frame, with its length.
func readFrame(from io.Reader) ([]byte, error) {
	frame := make([]byte, 4)
	if _, err := io.ReadFull(from, frame); err != nil {
		return nil, err
	}
	frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
	_, err := io.ReadFull(from, frame[4:])
	return frame, err
}
