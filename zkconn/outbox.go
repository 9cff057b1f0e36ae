package zkconn

import (
	"net"
	"os"
	"sync"
	"time"
)

// outbox coalesces writes: frames that are put in during one write go out together in the next,
// tens with one system call. An idle one writes at once, on the caller's goroutine: waking another
// would take longer.
type outbox struct {
	conn    net.Conn
	timeout func() time.Duration // of the session
	failed  func(error)          // is told the first failure; must not block

	mu      sync.Mutex
	room    sync.Cond
	waiting []byte
	last    time.Time
	writing bool // a sender is writing its frame by itself
	sending bool // frames are being written by send
	closed  bool
	wake    chan struct{}
}

// idle is the pause in the traffic after which the next frame is written at once.
const idle = 100 * time.Microsecond

// maxWaiting bounds the bytes that wait (back-pressure): a caller that puts in more blocks, as on a
// full socket.
const maxWaiting = 1 << 20

func newOutbox(conn net.Conn, timeout func() time.Duration, failed func(error)) *outbox {
	o := &outbox{conn: conn, timeout: timeout, failed: failed, wake: make(chan struct{}, 1)}
	o.room.L = &o.mu
	go o.send()
	return o
}

// put takes one frame. It blocks while too much is waiting, until the outbox is closed or a write,
// which has a deadline, fails.
func (o *outbox) put(frame []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) > maxWaiting && !o.closed {
		o.room.Wait()
	}
	if o.closed {
		return os.ErrClosed
	}
	now := time.Now()
	since := now.Sub(o.last)
	o.last = now
	if since > idle && len(o.waiting) == 0 && !o.writing && !o.sending {
		o.atOnce(frame)
		return nil
	}
	o.waiting = append(o.waiting, frame...)
	o.poke()
	return nil
}

// atOnce writes a frame. Others follow it. o.mu is held, except during the write.
func (o *outbox) atOnce(frame []byte) {
	o.writing = true
	o.mu.Unlock()
	err := o.write(frame)
	o.mu.Lock()
	o.writing = false
	if err == nil {
		o.poke()
		return
	}
	o.end()
	o.mu.Unlock()
	o.failed(err)
	o.mu.Lock()
}

// write bounds a write as the library does the wait for the answer to a ping.
func (o *outbox) write(frames []byte) error {
	if err := o.conn.SetWriteDeadline(time.Now().Add(o.timeout() * 2 / 3)); err != nil {
		return err
	}
	_, err := o.conn.Write(frames)
	return err
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
}

func (o *outbox) end() {
	o.closed = true
	o.waiting = nil
	o.room.Broadcast()
	o.poke()
}

func (o *outbox) send() {
	var spare []byte
	for range o.wake {
		o.mu.Lock()
		if o.closed || len(o.waiting) == 0 || o.writing {
			closed := o.closed
			o.mu.Unlock()
			if closed {
				return
			}
			continue
		}
		frames := o.waiting
		o.waiting = spare[:0]
		o.sending = true
		o.room.Broadcast()
		o.mu.Unlock()
		err := o.write(frames)
		o.mu.Lock()
		o.sending = false
		o.mu.Unlock()
		if err != nil {
			o.close()
			o.failed(err)
			return
		}
		spare = frames
		if cap(spare) > maxWaiting {
			spare = nil // do not keep the buffer of a burst
		}
	}
}
