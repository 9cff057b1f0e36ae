package embedded

import (
	"encoding/binary"
	"net"
	"strconv"
	"strings"
	"time"
)

// handshakeTimeout is the time that a connection has to ask for a session.
const handshakeTimeout = 10 * time.Second

func newConn(r *Replica, stream net.Conn) *conn {
	now := r.e.clock.Now()
	c := &conn{r: r, e: r.e, stream: stream, out: newOutput(stream, r.e.maxUnsent), done: make(chan struct{}),
		timeout: handshakeTimeout, heard: now, opened: now}
	host := "127.0.0.1"
	if addr, ok := stream.RemoteAddr().(*net.TCPAddr); ok {
		host = hostAddress(addr.IP)
	}
	c.who = []identity{{"ip", host}}
	for _, holds := range []bool{r.held, r.paused()} {
		if holds {
			c.out.holds++
		}
	}
	return c
}

// hostAddress writes an address as Java does (InetAddress.getHostAddress): an IPv6 address with all
// of its numbers.
func hostAddress(ip net.IP) string {
	if v4 := ip.To4(); v4 != nil || len(ip) != net.IPv6len {
		return ip.String()
	}
	numbers := make([]string, net.IPv6len/2)
	for i := range numbers {
		numbers[i] = strconv.FormatUint(uint64(binary.BigEndian.Uint16(ip[2*i:])), 16)
	}
	return strings.Join(numbers, ":")
}

// shut closes the connection and forgets its watches. Its session lives on.
func (c *conn) shut() {
	if c.phase == closed {
		return
	}
	c.phase = closed
	c.r.conns.remove(c)
	if c.r.bySession[c.sessionID] == c {
		delete(c.r.bySession, c.sessionID)
	}
	c.r.tree.data.removeAll(c)
	c.r.tree.children.removeAll(c)
	close(c.done)
	_ = c.stream.Close()
}

// park has all further requests of the client ignored.
func (c *conn) park() { c.phase = max(c.phase, parked) }

func (c *conn) countReceived() { c.received++; c.r.received++ }

// noZxid is the zxid of an event that no transaction caused: the client has set its watches again.
const noZxid = -1

// mayRead reports whether a list of permissions lets the client read the node.
func (c *conn) mayRead(acl []access) bool { return allowed(acl, permRead, c.who) }

// notify sends a watch event, with the zxid of the transaction that has caused it.
func (c *conn) notify(event eventType, path string, zxid int64) {
	c.out.add(func(e *encoder) {
		e.replyHeader(-1, zxid, codeOK)
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

func (c *conn) greeting(old bool, timeout time.Duration, id int64, password []byte) {
	c.out.add(func(e *encoder) {
		e.int32(0)
		e.int32(int32(timeout.Milliseconds()))
		e.int64(id)
		e.bytes(password)
		if !old {
			e.bool(false) // not a read-only server
		}
	})
	c.countSent()
}

func (c *conn) countSent() { c.sent++; c.r.sent++ }
