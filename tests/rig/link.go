package rig

import (
	"bufio"
	"io"
	"sync"
)

// link is one connection through a proxy.
//
// Frames are judged and passed on one at a time, so a fault strikes a frame at its place in the
// stream.
type link struct {
	proxy *Proxy
	*strand

	mu      sync.Mutex
	pending []expectation
}

// expectation is a reply to which a fault is to happen.
type expectation struct {
	xid   int32
	fault *Fault
}

func newLink(p *Proxy, s *strand) (up, down way) {
	l := &link{proxy: p, strand: s}
	s.end = func() {
		for _, e := range l.pending {
			e.fault.giveBack()
		}
	}
	return frames(s.near, l.hello, l.admitRequest), frames(s.far, l.welcome, l.admitReply)
}

// frames reads frames, of which the first is another's business.
func frames(from io.Reader, first, later func([]byte) []byte) way {
	buffered := bufio.NewReader(from)
	pass := first
	return way{
		read: func() ([]byte, error) {
			frame, err := readFrame(buffered)
			if err != nil {
				return nil, err // half a frame does not count
			}
			return frame, nil
		},
		pass: func(frame []byte) []byte {
			now := pass
			pass = later
			return now(frame)
		},
	}
}

// hello passes a connect request on. Where sessions are forgotten it takes the session and its password out of it, which
// stand behind length, protocol version, last zxid seen and timeout, with the length of the password between them.
func (l *link) hello(frame []byte) []byte {
	const session, password, end = 4 + 4 + 8 + 4, 4 + 4 + 8 + 4 + 8 + 4, 4 + 4 + 8 + 4 + 8 + 4 + 16
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if l.proxy.forget && len(frame) >= end {
		clear(frame[session : session+8])
		clear(frame[password:end])
	}
	return frame
}

// welcome reads the connect reply. It is noted before the client has it, so
// that a client that is connected finds its session at the proxy.
func (l *link) welcome(frame []byte) []byte {
	if reply, err := parseConnectReply(frame); err == nil && reply.accepted() {
		l.proxy.mu.Lock()
		defer l.proxy.mu.Unlock()
		l.proxy.session = reply
	}
	return frame
}

// admitRequest counts a request and catches it for a fault.
func (l *link) admitRequest(frame []byte) []byte {
	q, err := parseRequest(frame)
	if err != nil {
		return frame // not ours to judge
	}
	fault := l.proxy.observe(q)
	switch {
	case fault == nil:
		return frame
	case fault.rule.Action == CutBefore:
		l.cut()
		fault.happened()
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, expectation{q.xid, fault})
	return frame
}

// admitReply lets a fault happen to a reply.
func (l *link) admitReply(frame []byte) []byte {
	fault := l.take(newReader(frame).int32())
	if fault == nil {
		return frame
	}
	if fault.rule.Action == DropReply {
		l.cut()
		fault.happened()
		return nil
	}
	fault.happened()
	select {
	case <-fault.released:
		if l.done.Err() != nil {
			return nil
		}
		return frame
	case <-l.done.Done():
		return nil
	}
}

// take removes and returns the fault that awaits the reply with that number.
func (l *link) take(xid int32) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range l.pending {
		if e.xid == xid {
			l.pending = append(l.pending[:i], l.pending[i+1:]...)
			return e.fault
		}
	}
	return nil
}
