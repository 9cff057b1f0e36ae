package embedded

import (
	"net"
	"sync"
)

// output is what a connection has to send. Frames are put in under the ensemble's lock, so they are in the
// order of what they tell; they go out without it. The goroutine that reads a connection's requests sends
// the replies itself when it has no more to read, which saves a switch a request; the writing goroutine
// sends what others cause, such as watch events.
type output struct {
	stream net.Conn
	mu     sync.Mutex
	frames encoder
	spare  []byte // the buffer that was sent last
	holds  int    // reasons to keep everything here
	last   bool   // close when all is sent
	gone   bool
	turn   chan struct{} // one sends at a time
	wake   chan struct{} // for the writing goroutine
}

// maxUnsent is how many bytes may wait for a client that does not read. ZooKeeper keeps them without end.
const maxUnsent = 64 << 20

func newOutput(stream net.Conn) *output {
	return &output{stream: stream, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
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
	if len(o.frames.buf) > maxUnsent {
		o.gone = true
		_ = o.stream.Close()
	}
}

// finish lets nothing more in; the connection is closed when what is in has been sent.
func (o *output) finish() {
	o.mu.Lock()
	o.last = true
	o.mu.Unlock()
	o.poke()
}

// poke has the writing goroutine send.
func (o *output) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *output) hold(by int) {
	o.mu.Lock()
	o.holds += by
	o.mu.Unlock()
	o.poke()
}

// flush sends what there is. It reports false when the connection is at its end.
func (o *output) flush() bool {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	for {
		o.mu.Lock()
		if o.gone || o.holds > 0 || len(o.frames.buf) == 0 {
			end := o.gone || o.holds == 0 && o.last
			o.mu.Unlock()
			return !end
		}
		unsent := o.frames.buf
		o.frames.buf = o.spare[:0]
		o.mu.Unlock()
		if _, err := o.stream.Write(unsent); err != nil {
			return false
		}
		if cap(unsent) > 1<<16 {
			unsent = nil // do not keep what one large reply needed
		}
		o.spare = unsent
	}
}
