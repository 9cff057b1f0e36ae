package embedded

import (
	"net"
	"sync"
)

// output holds the frames that a connection has to send. Frames are put in under the ensemble's
// lock, so they are in the order of the changes; they go out without it. Only the writing goroutine
// sends them: any other would have to wait for a client that does not read.
type output struct {
	stream net.Conn
	mu     sync.Mutex
	frames encoder
	spare  []byte // the buffer that was sent last
	holds  int    // reasons to keep new frames back
	free   int    // bytes that came before the first reason, and may go out
	last   bool   // close when all that is not held is sent
	gone   bool
	most   int           // bytes that may wait for a client that does not read
	wake   chan struct{} // for the writing goroutine
	eased  chan struct{} // for the reading goroutine, when there was too much to read on
}

// maxUnsent bounds the bytes that wait for a client that does not read. When half of that waits,
// its requests wait too. ZooKeeper keeps them without end.
const maxUnsent = 64 << 20

func newOutput(stream net.Conn, most int) *output {
	return &output{stream: stream, most: most, wake: make(chan struct{}, 1), eased: make(chan struct{}, 1)}
}

// add puts in one frame.
func (o *output) add(write func(*encoder)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone || o.last {
		return
	}
	mark := o.frames.open()
	write(&o.frames)
	o.frames.close(mark)
	if len(o.frames.buf) > o.most {
		o.gone = true
		o.frames.buf = nil
		_ = o.stream.Close()
		o.poke()
	}
}

// finish takes no more frames. The connection is closed when the frames that are not held have been
// sent; held ones are lost.
func (o *output) finish() {
	o.mu.Lock()
	o.last = true
	o.mu.Unlock()
	o.poke()
}

// poke has the writing goroutine send.
func (o *output) poke() { signal(o.wake) }

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

func (o *output) hold(by int) {
	o.mu.Lock()
	if o.holds == 0 {
		o.free = len(o.frames.buf)
	}
	o.holds += by
	o.mu.Unlock()
	o.poke()
}

// awaitRoom waits until the client has read enough. It reports false when the connection was closed
// instead.
func (o *output) awaitRoom(closed <-chan struct{}) bool {
	for o.crowded() {
		o.poke()
		select {
		case <-o.eased:
		case <-closed:
			return false
		}
	}
	return true
}

func (o *output) crowded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.frames.buf) > o.most/2
}

// flush sends the frames that are not held. It reports false when the connection is at its end.
func (o *output) flush() bool {
	for {
		o.mu.Lock()
		n := len(o.frames.buf)
		if o.holds > 0 {
			n = o.free
		}
		if o.gone || n == 0 {
			end := o.gone || o.last
			o.mu.Unlock()
			return !end
		}
		unsent, held := o.frames.buf[:n], o.frames.buf[n:]
		o.frames.buf = append(o.spare[:0], held...)
		o.spare, o.free = nil, 0
		o.mu.Unlock()
		signal(o.eased)
		if _, err := o.stream.Write(unsent); err != nil {
			return false
		}
		if cap(unsent) <= 1<<16 { // do not keep the memory of one large reply
			o.spare = unsent
		}
	}
}
