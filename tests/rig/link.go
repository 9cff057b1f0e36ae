package rig

import (
	"bufio"
	"context"
	"net"
	"sync"
)

// link is one connection through a proxy: two goroutines for each direction.
//
// Frames are judged and passed on one at a time, so a fault strikes a frame at its place in the
// stream.
type link struct {
	proxy  *Proxy
	target string
	client net.Conn
	done   context.Context // ends when the link is cut
	cancel context.CancelFunc

	mu      sync.Mutex
	server  net.Conn
	pending []expectation
}

// expectation is a reply to which a fault is to happen.
type expectation struct {
	xid   int32
	fault *Fault
}

func newLink(p *Proxy, client net.Conn) *link {
	done, cancel := context.WithCancel(context.Background())
	return &link{proxy: p, client: client, done: done, cancel: cancel}
}

// cut closes both sides. It may be called again.
func (l *link) cut() {
	l.cancel()
	_ = l.client.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server != nil {
		_ = l.server.Close()
	}
}

func (l *link) run() {
	defer l.end()
	server, err := new(net.Dialer).DialContext(l.done, "tcp", l.target)
	if err != nil {
		return
	}
	l.mu.Lock()
	l.server = server
	l.mu.Unlock()
	if l.done.Err() != nil {
		return // cut while dialing
	}
	var forwarding sync.WaitGroup
	forwarding.Go(func() { l.forwardRequests(server) })
	l.forwardReplies(server)
	l.cut()
	forwarding.Wait()
}

func (l *link) end() {
	l.cut()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.pending {
		e.fault.giveBack()
	}
	l.pending = nil
	l.proxy.drop(l)
}

// forwardRequests carries frames from the client to the server.
func (l *link) forwardRequests(server net.Conn) {
	first := true
	whole := l.proxy.up.carry(l.stream(l.client, func(frame []byte) bool {
		passed := frame
		if first && l.proxy.forgets() {
			forgetSession(frame)
		}
		if !first {
			passed = l.admitRequest(frame)
		}
		first = false
		if passed == nil {
			return false
		}
		_, err := server.Write(passed)
		return err == nil
	}))
	// The client has gone, but what the server has still to say may be held
	// back; the server's own end of the connection ends the link.
	if half, ok := server.(interface{ CloseWrite() error }); whole && ok && half.CloseWrite() == nil {
		return
	}
	l.cut()
}

// stream is the frames of one direction.
func (l *link) stream(from net.Conn, deliver func(frame []byte) bool) stream {
	buffered := bufio.NewReader(from)
	return stream{
		done: l.done,
		read: func() ([]byte, error) {
			frame, err := readFrame(buffered)
			if err != nil {
				return nil, err // half a frame does not count
			}
			return frame, nil
		},
		deliver: deliver,
		cut:     l.cut,
	}
}

// admitRequest counts a request and catches it for a fault. It returns what is
// to be passed on, or nil when the connection is over.
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
	case fault.rule.Action == Throttle:
		frame = standIn(q.xid)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, expectation{q.xid, fault})
	return frame
}

// forwardReplies carries frames from the server to the client.
func (l *link) forwardReplies(server net.Conn) {
	first := true
	l.proxy.down.carry(l.stream(server, func(frame []byte) bool {
		if first {
			first = false
			l.noteSession(frame)
		} else if frame = l.admitReply(frame); frame == nil {
			return false
		}
		_, err := l.client.Write(frame)
		return err == nil
	}))
}

// noteSession reads the connect reply. It is noted before the client has it, so
// that a client that is connected finds its session at the proxy.
func (l *link) noteSession(frame []byte) {
	if reply, err := parseConnectReply(frame); err == nil && reply.accepted() {
		l.proxy.established(reply)
	}
}

// admitReply lets a fault happen to a reply. It returns what is to be passed on, or
// nil when the connection is over.
func (l *link) admitReply(frame []byte) []byte {
	xid := newReader(frame).int32()
	fault := l.take(xid)
	if fault == nil {
		return frame
	}
	switch fault.rule.Action {
	case DropReply:
		l.cut()
		fault.happened()
		return nil
	case Throttle:
		fault.happened()
		return throttledReply(frame)
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
