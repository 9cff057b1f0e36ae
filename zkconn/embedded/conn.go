package embedded

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// handshakeTimeout is how long a connection may take to ask for a session.
const handshakeTimeout = 10 * time.Second

// conn is one client's connection to one replica. What is not said to belong to a goroutine is guarded by
// the ensemble's lock.
type conn struct {
	r      *Replica
	e      *ensemble
	stream net.Conn
	out    *output
	done   chan struct{} // closed with the connection

	who         []identity
	sessionID   int64
	timeout     time.Duration
	heard       time.Time // when it last sent anything
	opened      time.Time
	established bool
	parked      bool // waits for an answer from a leader that cannot be reached, and so does all that follows
	waiting     []*exchange
	early       [][]byte // frames that came before the session was established
	unread      [][]byte // frames that came while the replica read nothing
	greeted     bool     // the first frame has been read
	gone        bool     // the client has closed it
	leaving     bool     // it has asked to close its session
	busy        bool     // its reading goroutine carries out a request, and will have what comes of it sent
	mute        bool     // the reply to the request at hand is not sent
	cutting     bool     // it is closed when the request at hand has been carried out
	closed      bool

	received, sent int64 // packets
}

func newConn(r *Replica, stream net.Conn) *conn {
	now := r.e.clock.Now()
	c := &conn{r: r, e: r.e, stream: stream, out: newOutput(stream, r.e.maxUnsent), done: make(chan struct{}),
		timeout: handshakeTimeout, heard: now, opened: now}
	host := "127.0.0.1"
	if addr, ok := stream.RemoteAddr().(*net.TCPAddr); ok {
		host = addr.IP.String()
	}
	c.who = []identity{{"ip", host}}
	for _, holds := range []bool{r.held, r.paused} {
		if holds {
			c.out.holds++
		}
	}
	return c
}

// shut closes the connection and forgets its watches. Its session lives on.
func (c *conn) shut() {
	if c.closed {
		return
	}
	c.closed = true
	c.r.conns.remove(c)
	if c.r.bySession[c.sessionID] == c {
		delete(c.r.bySession, c.sessionID)
	}
	c.r.tree.data.removeAll(c)
	c.r.tree.children.removeAll(c)
	close(c.done)
	_ = c.stream.Close()
}

// notify sends a watch event.
func (c *conn) notify(event eventType, path string) {
	c.out.add(func(e *encoder) {
		e.replyHeader(-1, -1, codeOK)
		e.int32(int32(event))
		e.int32(syncConnected)
		e.text(path)
	})
	c.countSent()
	if !c.busy {
		c.out.poke()
	}
}

// reply sends the answer to a request; body may be nil.
func (c *conn) reply(xid int32, zxid int64, result code, body func(*encoder)) {
	if c.mute {
		return
	}
	c.out.add(func(e *encoder) {
		e.replyHeader(xid, zxid, result)
		if body != nil {
			body(e)
		}
	})
	c.countSent()
}

// write is the writing goroutine.
func (c *conn) write() {
	for {
		select {
		case <-c.out.wake:
			if !c.out.flush() {
				c.end()
				return
			}
		case <-c.done:
			return
		}
	}
}

// end closes the connection of a client that has gone, when all that it has sent has been read.
func (c *conn) end() {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if len(c.unread) > 0 {
		c.gone = true
		return
	}
	c.shut()
}

// read is the reading goroutine: it carries out requests one after the other. It never writes, so a client
// may send all that it has before it reads anything.
func (c *conn) read() {
	in := bufio.NewReader(c.stream)
	open := c.greet(in)
	for frame := []byte(nil); open; {
		if !frameBuffered(in) {
			c.out.poke()
		}
		if !c.out.awaitRoom(c.done) {
			break
		}
		var err error
		frame, err = readFrame(in, frame, c.e.maxFrame)
		open = err == nil && c.take(frame)
		if err != nil && !errors.Is(err, errMalformed) {
			c.end() // the client has gone
		}
	}
	c.out.finish() // the writing goroutine closes the connection when all has been sent
}

// take carries out a request, or keeps it while its replica reads nothing. It reports false when the connection is to be
// closed.
func (c *conn) take(frame []byte) bool {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	switch {
	case c.closed:
		return false
	case c.r.deaf():
		c.unread = append(c.unread, slices.Clone(frame))
		return true
	}
	return c.receive(frame)
}

// receive carries out a request, or the first frame.
func (c *conn) receive(frame []byte) bool {
	c.countReceived()
	if !c.greeted {
		c.greeted = true
		return c.connect(frame)
	}
	c.heard = c.e.clock.Now()
	switch {
	case c.parked:
		return true
	case !c.established:
		c.early = append(c.early, slices.Clone(frame))
		return true
	}
	return c.perform(frame)
}

// readOn carries out what the client has sent while the replica read nothing.
func (c *conn) readOn() {
	unread := c.unread
	c.unread = nil
	for _, frame := range unread {
		if c.closed {
			return
		}
		if !c.receive(frame) {
			c.parked = true
			c.out.finish()
			return
		}
	}
	c.out.poke()
	if c.gone {
		c.shut()
	}
}

func (c *conn) perform(frame []byte) bool {
	c.busy = true
	defer func() { c.busy, c.mute = false, false }()
	open := c.handle(frame) && !c.cutting
	c.r.latency.add(c.e.clock.Now().Sub(c.heard).Milliseconds())
	return open
}

func (c *conn) countReceived() { c.received++; c.r.received++ }
func (c *conn) countSent()     { c.sent++; c.r.sent++ }

// greet answers a four-letter word, or reads the first frame, which asks for a session. It reports false
// when the connection is to be closed.
func (c *conn) greet(in *bufio.Reader) bool {
	head, err := in.Peek(4)
	if err != nil {
		return false
	}
	if word := string(head); isWord(word) {
		c.answerWord(word)
		return false
	}
	frame, err := readFrame(in, nil, c.e.maxFrame)
	if err != nil {
		return false
	}
	return c.take(frame)
}

// readFrame reads one frame, into the old one's memory where that suffices. A frame that is too long, or
// negative, ends the connection.
func readFrame(in *bufio.Reader, old []byte, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := int32(binary.BigEndian.Uint32(head[:]))
	if n < 0 || int(n) > limit {
		return nil, errMalformed
	}
	return fill(in, old, int(n))
}

// chunk is how much memory a frame gets before its bytes have come, so that a length alone costs nothing.
const chunk = 1 << 16

func fill(in *bufio.Reader, old []byte, n int) ([]byte, error) {
	frame := old[:0]
	if cap(frame) > chunk && n <= chunk {
		frame = nil // do not keep what one large request needed
	}
	for len(frame) < n {
		from := len(frame)
		to := min(n, from+chunk)
		if to > cap(frame) {
			frame = append(frame[:from], make([]byte, to-from)...)
		}
		frame = frame[:to]
		if _, err := io.ReadFull(in, frame[from:]); err != nil {
			return nil, err
		}
	}
	return frame, nil
}

// frameBuffered says whether the next frame has come as a whole.
func frameBuffered(in *bufio.Reader) bool {
	if in.Buffered() < 4 {
		return false
	}
	head, _ := in.Peek(4)
	return uint64(in.Buffered()) >= 4+uint64(binary.BigEndian.Uint32(head))
}
