package embedded

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzOperations has clients of one server or of three send requests that the bytes choose, half of them
// sensible and half of them bytes as they come, while time passes, sessions expire and replicas come and go.
// After each of them everything that the server keeps twice agrees.
func FuzzOperations(f *testing.F) {
	for _, op := range opcodes {
		body := seedBodies()[op]
		raw := append([]byte{byte(chooseRaw), byte(op), byte(len(body))}, body...)
		f.Add(append([]byte{0, 0, 0, 0}, raw...))
		f.Add(append(append([]byte{1, 0, 1, 2}, raw...), raw...))
	}
	for i := range byte(choices) {
		f.Add([]byte{i, 0, 1, 2, i, 0, 1, 2, 3, i, 1, 1, i, 3, 2, 1, 0, i, i, i})
	}
	for i := range byte(2) {
		f.Add(manyEphemerals(i))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 400 {
			return // as good as several shorter ones
		}
		p := newPlay(t, script)
		defer p.s.Close()
		for len(p.script) > 0 {
			p.step()
			require.NoError(t, inconsistency(p.s))
			p.checkReplies()
		}
	})
}

// manyEphemerals is a script that makes a node and, below it, more ephemeral ones than a set keeps without
// an index, deletes one of them, and ends their session; on a server or on three.
func manyEphemerals(size byte) []byte {
	script := []byte{size, 0, 1, 2, chooseCreate, 0, 0, 0, 1, 0, 0, 0}
	for range smallSet + 5 {
		script = append(script, chooseCreate, 1, 0, 4, 1, 0, 3, 0, chooseWatch, 2, 2, 0)
	}
	return append(script, chooseDelete, 0, 12, chooseExpire, 1)
}

// play is a server and what a script does to it. Requests are carried out on the connections themselves,
// without goroutines, so that a script always goes the same way.
type play struct {
	t      *testing.T
	s      *Server
	clock  *ManualClock
	script []byte
	conns  []*conn
	xid    int32
}

func newPlay(t *testing.T, script []byte) *play {
	p := &play{t: t, script: script, clock: NewManualClock(time.Unix(1e9, 0))}
	size := 1 + 2*int(p.next()%2)
	s, err := Start(WithoutNetwork(), WithClock(p.clock), WithReplicas(size), WithReapInterval(time.Second))
	require.NoError(t, err)
	p.s = s
	for range 3 {
		p.conns = append(p.conns, nil)
		p.connect(len(p.conns)-1, 0, nil)
	}
	return p
}

// next is the script's next byte, and zero after its end.
func (p *play) next() byte {
	if len(p.script) == 0 {
		return 0
	}
	b := p.script[0]
	p.script = p.script[1:]
	return b
}

// connect opens one of the connections anew.
func (p *play) connect(i int, session int64, password []byte) {
	r := p.s.e.replicas[int(p.next())%len(p.s.e.replicas)]
	p.s.e.mu.Lock()
	defer p.s.e.mu.Unlock()
	if before := p.conns[i]; before != nil {
		before.shut()
	}
	c := newConn(r, deadEnd{})
	p.conns[i] = c
	if !r.running {
		c.phase = closed
		return
	}
	r.conns.add(c)
	if !c.connect(greetingOf(session, password)) {
		c.shut()
	}
}

// send has a connection carry out a request.
func (p *play) send(c *conn, op Op, body []byte) {
	p.xid++
	if !c.take(requestOf(p.xid, op, body)) {
		c.end()
	}
}

// checkReplies reads the frames that came of the last request.
func (p *play) checkReplies() {
	for _, c := range p.conns {
		unread := c.out.frames.buf
		c.out.frames.buf = nil
		for len(unread) > 0 {
			require.GreaterOrEqual(p.t, len(unread), 4)
			n := int(binary.BigEndian.Uint32(unread))
			require.GreaterOrEqual(p.t, len(unread), 4+n)
			require.GreaterOrEqual(p.t, n, 16)
			unread = unread[4+n:]
		}
	}
}

// deadEnd is a stream that nobody reads.
type deadEnd struct{ net.Conn }

func (deadEnd) RemoteAddr() net.Addr { return &net.UnixAddr{} }
func (deadEnd) Close() error         { return nil }
