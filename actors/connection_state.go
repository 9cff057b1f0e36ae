package actors

import (
	"sync"
	"time"
)

// Phase is where the connection of a session stands.
type Phase string

// The phases.
const (
	// Connecting: there is no ZooKeeper session: none was granted yet, or the last one has expired.
	Connecting Phase = "connecting"
	// Connected: a server answers.
	Connected Phase = "connected"
	// Unanswered: there is a connection, and a heartbeat is late.
	Unanswered Phase = "unanswered"
	// Disconnected: the connection is lost. The session may live, and its leases go on until their deadline.
	Disconnected Phase = "disconnected"
	// Closed: the session has ended for good.
	Closed Phase = "closed"
)

// Connection is what a session knows of its connection.
type Connection struct {
	Phase Phase
	// Since is when the phase began.
	Since time.Time
	// Server is the address of the server that it was last connected to, "" before there was one.
	Server string
	// Epoch counts the ZooKeeper sessions of the session actor, from 1; ID is that of this one, zero before it is granted.
	Epoch uint64
	ID    int64
	// Timeout is the session timeout.
	Timeout time.Duration
	// Silence is how long no server has answered, through whatever phases: since the first request behind the newest answer,
	// or the loss of the connection. It is zero while nothing is waited for.
	Silence time.Duration
	// Lease is how long the leases of the session last at least; not above zero when they are over, or none is needed.
	Lease time.Duration
	// Lapsed: no lease may rest on the ZooKeeper session any more, because its servers have not proved in time that it
	// lives. Requests are granted in the next one, which begins when one wants a lock.
	Lapsed bool
	// NodeBytes is what the ephemeral nodes of the session weigh, MaxNodeBytes what they may: see WithMaxNodeBytes.
	NodeBytes, MaxNodeBytes int
	// Inside is how many requests wait inside the session, without a node: see WithMaxWaiting.
	Inside int
	// Cause is why there is no connection, nil where there is one.
	Cause error
	// Trouble says in words what keeps a request from being carried out though there are servers, such as "the server
	// hangs up on create container /x, 5 times"; that of the newest, where there are several, and "" where there is none.
	// Stuck: since then no request has been carried out.
	Trouble string
	Stuck   bool
}

// Connection tells where the connection stands, and gives a channel that is closed when that changes.
func (s *Session) Connection() (Connection, <-chan struct{}) {
	now, changed := s.phaseOfEpoch()
	now.Timeout = s.Timeout()
	now.Silence = max(now.Silence, s.silence())
	now.NodeBytes, now.MaxNodeBytes, now.Inside = int(s.weight.Load()), s.bounds().Weight, int(s.inside.Load())
	now.Lease, _ = s.leaseLeft()
	now.Trouble, now.Stuck = s.troubles.look()
	if now.Phase != Connected {
		now.Cause = s.lastCause()
		if err := s.Err(); err != nil {
			now.Cause = err
		}
	}
	return now, changed
}

// phaseOfEpoch gives the phase with the epoch that it belongs to. An epoch begins with Connecting, and then has its info:
// the info that stands before a look and after it belongs to the phase in between, or the next phase is still to come.
func (s *Session) phaseOfEpoch() (now Connection, changed <-chan struct{}) {
	info := s.current.Load()
	for {
		now, changed = s.phase.look()
		again := s.current.Load()
		if again == info {
			break
		}
		info = again
	}
	if info != nil {
		now.Epoch, now.ID = info.epoch, info.session
	}
	return now, changed
}

// silence is that of the newest connection.
func (s *Session) silence() time.Duration {
	if conn := s.conn.Load(); conn != nil {
		return conn.Silence()
	}
	return 0
}

// phases is where the connection stands. The session actor turns it; anybody may look. The zero value is Connecting.
type phases struct {
	mu      sync.Mutex
	now     Connection // Phase, Since, Server and Lapsed only
	left    time.Time  // since when no server has answered, if now it is not Connected
	changed chan struct{}
}

func (p *phases) look() (Connection, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	now := p.now
	if now.Phase != Connected {
		now.Silence = time.Since(p.left)
	}
	return now, p.changed
}

// begin begins, once; p.mu is held.
func (p *phases) begin() {
	if p.changed == nil {
		p.now.Phase, p.now.Since, p.changed = Connecting, time.Now(), make(chan struct{})
		p.left = p.now.Since
	}
}

// turn notes a phase. server is "" where it stays the same, silence is for how long none has answered. Nothing follows
// Closed.
func (p *phases) turn(to Phase, server string, silence time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	if server != "" {
		p.now.Server = server
	}
	if p.now.Phase == Closed {
		return
	}
	lapsed := p.now.Lapsed && to != Connecting // the next session has not; this one may before it is connected
	if p.now.Phase == to && p.now.Lapsed == lapsed {
		return
	}
	now := time.Now()
	if p.now.Phase == Connected {
		p.left = now.Add(-silence)
	}
	if p.now.Phase != to {
		p.now.Phase, p.now.Since = to, now
	}
	p.now.Lapsed = lapsed
	p.tell()
}

func (p *phases) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// lapsed notes that no lease may rest on the session of this epoch any more.
func (p *phases) lapsed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	p.now.Lapsed = true
	p.tell()
}

// connected tells whether a server has the session.
func (p *phases) connected() bool {
	now, _ := p.look()
	return now.Phase == Connected || now.Phase == Unanswered
}

// answered notes that a heartbeat that was late has been answered.
func (p *phases) answered() {
	if now, _ := p.look(); now.Phase == Unanswered {
		p.turn(Connected, "", 0)
	}
}
