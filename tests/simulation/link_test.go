package simulation

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// link is one connection of a client to a replica, with all that is under way on it. Bytes that the client
// or the server has written, and the end of the connection, go no further until deliver.
type link struct {
	net     *network
	number  int // of all links, in the order in which they were made
	client  int
	replica int
	ends    [2]net.Conn // where to deliver: up is the server, down the client
	queues  [2][]item
	stalled [2]bool         // nothing is delivered in this direction
	asked   map[int32]asked // requests without an answer, by xid
	bundles int
	session int64
	greeted [2]bool // the first frame of the direction has been written
	dead    bool
}

// direction is up to the server, or down to the client.
type direction int

const (
	up direction = iota
	down
)

func (d direction) String() string { return [...]string{"→", "←"}[d] }

// item is something under way: a frame, or the end of the connection.
type item struct {
	frame
	at     time.Time // when it was written
	end    bool
	bundle int // an answer has its request's
}

// asked is a request without an answer. Requests that say the same and were written in one instant are one
// bundle, which is delivered as one, and so are its answers: nobody can tell who of several goroutines that ask
// the same asked first.
type asked struct {
	text   string
	bundle int
}

// newLink makes a link and gives the client's end of it.
func (n *network) newLink(client, replica int, server net.Conn) net.Conn {
	outer, inner := net.Pipe()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.made++
	l := &link{net: n, number: n.made, client: client, replica: replica, ends: [2]net.Conn{server, inner},
		asked: map[int32]asked{}}
	n.links = append(n.links, l)
	go l.take(inner, up)
	go l.take(server, down)
	return outer
}

// take reads what one side writes.
func (l *link) take(from net.Conn, d direction) {
	in := bufio.NewReader(from)
	for {
		b, err := readFrame(in)
		l.net.mu.Lock()
		if l.dead {
			l.net.mu.Unlock()
			return
		}
		it := item{at: time.Now(), end: err != nil}
		if err == nil {
			it.frame, it.bundle = l.word(b, d)
		} else {
			it.text = "end"
		}
		l.queues[d] = append(l.queues[d], it)
		l.net.signal()
		l.net.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func readFrame(in io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	b := append(head, make([]byte, binary.BigEndian.Uint32(head))...)
	_, err := io.ReadFull(in, b[4:])
	return b, err
}

// word puts a frame into words, and gives the bundle of an answer.
func (l *link) word(b []byte, d direction) (frame, int) {
	switch {
	case d == up && !l.greeted[up]:
		l.greeted[up] = true
		return frame{bytes: b, text: "connect", op: embedded.OpCreateSession}, 0
	case d == up:
		f := request(b)
		l.asked[f.xid] = asked{text: f.text}
		return f, 0
	case !l.greeted[down]:
		l.greeted[down] = true
		r := reader{b[4:]}
		r.skip(8)
		l.session = r.int64()
		return frame{bytes: b, text: fmt.Sprintf("session %t", l.session != 0)}, 0
	}
	xid := int32(binary.BigEndian.Uint32(b[4:]))
	to := l.asked[xid]
	delete(l.asked, xid)
	return reply(b, to.text), to.bundle
}

// idleSync is the request that goes out behind a ping.
const idleSync = "sync /"

// settle puts what a client has written in one instant into an order: its goroutines did so in any. A ping, with the
// sync behind it, that was due when the client gave up waiting for an answer is taken not to have been sent any more.
func (l *link) settle() {
	queue := l.queues[up]
	if n := len(queue); n > 0 && queue[n-1].end {
		queue = slices.DeleteFunc(queue, func(it item) bool {
			return (it.op == embedded.OpPing || it.text == idleSync) && it.at.Equal(queue[n-1].at)
		})
		l.queues[up] = queue
	}
	slices.SortStableFunc(queue, func(a, b item) int {
		if by := a.at.Compare(b.at); by != 0 {
			return by
		}
		if by := a.last() - b.last(); by != 0 {
			return by
		}
		return strings.Compare(a.text, b.text)
	})
}

// pop takes what is delivered next: the first, and what is one bundle with it.
func (l *link) pop(d direction) []item {
	l.settle()
	queue := l.queues[d]
	n := min(1, len(queue))
	for n < len(queue) && !queue[n].end && queue[n].together(queue[0], d) {
		n++
	}
	l.queues[d] = queue[n:]
	if d == up && n > 1 {
		l.bundles++
		for _, it := range queue[:n] {
			l.asked[it.xid] = asked{it.text, l.bundles}
		}
	}
	return queue[:n]
}

// together reports whether two items are of one bundle.
func (i item) together(first item, d direction) bool {
	if d == down {
		return i.bundle != 0 && i.bundle == first.bundle
	}
	return i.text == first.text && i.at.Equal(first.at)
}

// last is for what nothing can be behind: the end, and the request for it.
func (i item) last() int {
	switch {
	case i.end:
		return 2
	case i.op == embedded.OpCloseSession:
		return 1
	}
	return 0
}

// cut ends the connection for both; what was under way is lost.
func (l *link) cut() {
	l.dead = true
	l.queues = [2][]item{}
	_ = l.ends[up].Close()
	_ = l.ends[down].Close()
}
