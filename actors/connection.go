package actors

import (
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/metering"
)

// Phase is the phase of a session's connection. It is the only enumeration of a connection's state:
// the coordinator knows only whether a server has the session, and package zkconn tells events. The
// figures count sessions by it (counted).
type Phase string

// The phases.
const (
	// Connecting: there is no ZooKeeper session: none was granted yet, or the last one has expired.
	Connecting Phase = metering.StateConnecting
	// Connected: a server answers.
	Connected Phase = metering.StateConnected
	// Unanswered: there is a connection, and a heartbeat is late.
	Unanswered Phase = "unanswered"
	// Disconnected: the connection is lost. The session may live, and its leases go on until their deadline.
	Disconnected Phase = metering.StateDisconnected
	// Closed: the session has ended for good.
	Closed Phase = "closed"
)

// counted is the word under which the figures count a session in this phase, "" where they count none. They do not
// tell a late heartbeat from one that was answered.
func (p Phase) counted() string {
	switch p {
	case Unanswered:
		return metering.StateConnected
	case Closed:
		return ""
	}
	return string(p)
}

// Connection describes the connection of a session.
type Connection struct {
	Phase Phase
	// Since is the time at which the phase began.
	Since time.Time
	// Server is the address of the server that it was last connected to, "" before there was one.
	Server string
	// Epoch counts the ZooKeeper sessions of the session actor, from 1; ID is the ID of this
	// session, zero before it is granted.
	Epoch uint64
	ID    int64
	// Timeout is the session timeout.
	Timeout time.Duration
	// Silence is the time without an answer of any server, through all phases: since the first request behind the newest answer,
	// or the loss of the connection. It is zero while nothing is waited for.
	Silence time.Duration
	// Lease is the least time left of the session's leases; not above zero when they are over, or none is needed.
	Lease time.Duration
	// Lapsed: no lease may rest on the ZooKeeper session any more, because its servers have not proved in time that it
	// lives. Requests are granted in the next one, which begins when one wants a lock.
	Lapsed bool
	// NodeBytes is the weight of the session's ephemeral nodes, MaxNodeBytes its bound: see WithMaxNodeBytes.
	NodeBytes, MaxNodeBytes int
	// Inside counts the requests that wait inside the session, without a node: see WithMaxWaiting.
	Inside int
	// Cause is the reason why there is no connection; nil while there is one.
	Cause error
	// Trouble says in words what keeps a request from being carried out though there are servers,
	// such as "the server hangs up on create container /x, 5 times"; the newest of several; "" for
	// none. Stuck: since then no request has been carried out.
	Trouble string
	Stuck   bool
}

// readyFor is the part of a session timeout for which a session whose servers do not answer is ready
// all the same: leases survive outages of that length (package guides, "Choosing a session
// timeout").
const readyFor = 5

// Ready reports whether the session can lock and keep locks: a server has answered it, there has been no silence longer
// than the first fifth of a session timeout, and its requests are carried out. It is the rule of locks.Client.Ready.
func (c Connection) Ready() bool {
	return c.Phase != Closed && !c.Stuck && c.Server != "" && c.Silence < c.Timeout/readyFor
}

// phases has the phase of the connection. The session actor changes it; anybody may read it. The
// zero value is Connecting.
type phases struct {
	mu          sync.Mutex
	now         Connection // Phase, Since, Server and Lapsed only
	silentSince time.Time  // no server has answered since; valid while now is not Connected
	changed     chan struct{}
}

func (p *phases) current() (Connection, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	now := p.now
	if now.Phase != Connected {
		now.Silence = time.Since(p.silentSince)
	}
	return now, p.changed
}

// begin begins, once; p.mu is held.
func (p *phases) begin() {
	if p.changed == nil {
		p.now.Phase, p.now.Since, p.changed = Connecting, time.Now(), make(chan struct{})
		p.silentSince = p.now.Since
	}
}

// become changes the phase. server is "" where it stays the same; silence is the time for which no server has answered.
// Closed is final.
func (p *phases) become(to Phase, server string, silence time.Duration) {
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
		p.silentSince = now.Add(-silence)
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

// connected reports whether a server has the session.
func (p *phases) connected() bool {
	now, _ := p.current()
	return now.Phase == Connected || now.Phase == Unanswered
}

// answered notes that a heartbeat that was late has been answered.
func (p *phases) answered() {
	if now, _ := p.current(); now.Phase == Unanswered {
		p.become(Connected, "", 0)
	}
}

// troubles lists the requests of a session that cannot be carried out, with the reason. The session actor notes them;
// anybody may look.
type troubles struct {
	mu  sync.Mutex
	all []trouble // the newest at the end
	// stuck: since the newest, no request has got a node.
	stuck bool
}

type trouble struct {
	of   coordinator.RequestID
	text string
}

// ofSession is a trouble of no request in particular, but of the session, for as long as that lasts.
const ofSession coordinator.RequestID = 0

// note sets the obstacle that keeps a request from being carried out; "" when there is none any more, also because the
// request has ended.
func (t *troubles) note(of coordinator.RequestID, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(have trouble) bool { return have.of == of })
	if text != "" {
		t.all = append(t.all, trouble{of, text})
	}
	t.stuck = len(t.all) > 0 && (t.stuck || text != "")
}

// carriedOut: a request has got a node.
func (t *troubles) carriedOut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stuck = false
	t.all = slices.DeleteFunc(t.all, func(have trouble) bool { return have.of == ofSession }) // it has a node
}

func (t *troubles) current() (newest string, stuck bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) > 0 {
		newest = t.all[len(t.all)-1].text
	}
	return newest, t.stuck
}
