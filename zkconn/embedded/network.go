package embedded

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// listen opens the replica's port.
func (r *Replica) listen() error {
	listener, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	if r.listener == nil { // the address stays the same from now on, and is read without the lock
		r.addr = listener.Addr().String()
	}
	r.listener = listener
	return nil
}

// run accepts connections until the listener is closed.
func (r *Replica) run() {
	listener := r.listener
	r.tasks.Go(func() {
		for {
			stream, err := listener.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // out of descriptors, perhaps: not for ever
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if !r.serve(stream) {
				_ = stream.Close()
			}
		}
	})
}

// serve starts a connection. It reports false when the replica takes none.
func (r *Replica) serve(stream net.Conn) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if !r.running || r.refusing || r.e.closed {
		return false
	}
	c := newConn(r, stream)
	r.conns.add(c)
	r.tasks.Go(c.read)
	r.tasks.Go(c.write)
	return true
}

// dial opens a connection that needs no network.
func (r *Replica) dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	if !r.serve(server) {
		_ = client.Close()
		_ = server.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
	}
	return &inMemory{Conn: client}, nil
}

var errRefused = errors.New("embedded: connection refused")

// inMemory is a client's end of a connection without a network. Once the server has closed its end,
// it behaves as a TCP connection does: a write fails with a broken pipe, and deadlines can be set.
// A net.Pipe answers both as if the client itself had closed the connection, so the client could
// not tell that the server hung up.
type inMemory struct {
	net.Conn
	closed atomic.Bool // by the client
}

// Write implements net.Conn.
func (c *inMemory) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.hungUp(err) {
		err = &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return n, err
}

// SetDeadline implements net.Conn.
func (c *inMemory) SetDeadline(at time.Time) error { return c.unlessHungUp(c.Conn.SetDeadline(at)) }

// SetReadDeadline implements net.Conn.
func (c *inMemory) SetReadDeadline(at time.Time) error {
	return c.unlessHungUp(c.Conn.SetReadDeadline(at))
}

// SetWriteDeadline implements net.Conn.
func (c *inMemory) SetWriteDeadline(at time.Time) error {
	return c.unlessHungUp(c.Conn.SetWriteDeadline(at))
}

// Close implements net.Conn.
func (c *inMemory) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *inMemory) hungUp(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) && !c.closed.Load()
}

func (c *inMemory) unlessHungUp(err error) error {
	if c.hungUp(err) {
		return nil
	}
	return err
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

// take carries out a request, or keeps it while its replica reads nothing. It reports false when the connection is to be
// closed.
func (c *conn) take(frame []byte) bool {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	switch {
	case c.phase == closed:
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
	if c.phase == fresh {
		c.phase = greeted
		return c.connect(frame)
	}
	c.heard = c.e.clock.Now()
	switch {
	case c.phase >= parked:
		return true
	case c.phase < established:
		c.early = append(c.early, slices.Clone(frame))
		return true
	}
	return c.perform(frame)
}

// readOn carries out the requests that came while the replica read nothing.
func (c *conn) readOn() {
	unread := c.unread
	c.unread = nil
	for _, frame := range unread {
		if c.phase == closed {
			return
		}
		if !c.receive(frame) {
			c.park()
			c.out.finish()
			return
		}
	}
	c.out.poke()
	if c.gone {
		c.shut()
	}
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

// chunk is the memory that a frame gets before its bytes have come, so that a length alone costs
// nothing.
const chunk = 1 << 16

func fill(in *bufio.Reader, old []byte, n int) ([]byte, error) {
	frame := old[:0]
	if cap(frame) > chunk && n <= chunk {
		frame = nil // do not keep the memory of one large request
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

// frameBuffered reports whether the next frame has come as a whole.
func frameBuffered(in *bufio.Reader) bool {
	if in.Buffered() < 4 {
		return false
	}
	head, _ := in.Peek(4)
	return uint64(in.Buffered()) >= 4+uint64(binary.BigEndian.Uint32(head))
}

// connect carries out a connection's first request: a new session, or the session that it names
// with its password. It reports false when the connection is to be closed.
func (c *conn) connect(frame []byte) bool {
	d := decoder{buf: frame}
	d.int32() // the protocol's version, which nobody has ever looked at
	seen := d.int64()
	asked := time.Duration(d.int32()) * time.Millisecond
	id := d.int64()
	password := d.bytes()
	if d.err != nil {
		return false
	}
	old := len(d.buf) == 0 // a client from before there was the read-only flag
	if !c.r.serves() || seen > c.r.tree.zxid {
		return false // the client has seen a newer state than ours: another server can help it
	}
	c.timeout = min(max(asked, c.r.minTimeout), c.r.maxTimeout)
	c.heard = c.e.clock.Now()
	if !c.r.following() {
		c.park()
		return true
	}
	if id == 0 {
		return c.openSession(old)
	}
	return c.reopenSession(old, id, slices.Clone(password))
}

// openSession has the leader make a session, by a transaction. The session lives from the moment
// when the leader learns of it.
func (c *conn) openSession(old bool) bool {
	return c.propose(&decoder{}, func(*decoder) (*txn, func([]result) bool) {
		e := c.e
		e.nextSession++
		s := &session{id: e.nextSession, created: c.timeout, at: c.r}
		e.sessions[s.id] = s
		e.sessionOrder.add(s.id)
		e.touch(s, c.timeout)
		x := &txn{op: OpCreateSession, session: s.id, zxid: e.nextZxid(), time: e.millis()}
		return x, func([]result) bool {
			if c.r.link != nil { // the client has sent a packet of the new session
				c.r.touched[s.id] = c.timeout
			}
			return c.establish(old, s.id)
		}
	})
}

// reopenSession moves a session here, when the leader knows it. The connection it had to this replica is closed, even
// when the password turns out to be wrong, as in ZooKeeper; one to another replica learns it when it next writes.
func (c *conn) reopenSession(old bool, id int64, password []byte) (open bool) {
	if before := c.r.bySession[id]; before != nil {
		before.shut()
	}
	queued, direct := (*exchange)(nil), c.direct()
	if !direct {
		queued = c.await()
	}
	c.r.toLeader(func() {
		s := c.e.sessions[id]
		valid := s != nil && !s.closing && slices.Equal(password, c.e.password(id))
		if valid {
			s.at = c.r
			c.e.touch(s, c.timeout)
		}
		c.r.fromLeader(func() {
			welcome := func() bool {
				if !valid {
					c.greeting(old, 0, 0, make([]byte, passwordSize))
					return false
				}
				return c.establish(old, id)
			}
			if direct {
				open = welcome()
			} else {
				c.answered(queued, welcome)
			}
		})
	})
	return open || !direct
}

// establish tells the client of its session, and carries out requests that it has sent too early.
func (c *conn) establish(old bool, id int64) bool {
	c.sessionID, c.phase = id, max(c.phase, established)
	c.r.bySession[id] = c
	c.greeting(old, c.timeout, id, c.e.password(id))
	early := c.early
	c.early = nil
	for _, frame := range early {
		if c.phase >= parked || !c.perform(frame) {
			return c.phase >= parked
		}
	}
	return true
}
