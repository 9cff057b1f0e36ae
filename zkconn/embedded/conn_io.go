package embedded

import (
	"bufio"
	"errors"
	"slices"
)

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

// readOn carries out what the client has sent while the replica read nothing.
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
