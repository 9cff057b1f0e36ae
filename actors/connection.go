package actors

import (
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/metering"
)

// Phase is the phase of a session's connection.
type Phase string

const (
	// Connecting: there is no ZooKeeper session: none yet, or the last has expired.
	Connecting Phase = metering.StateConnecting
	// Connected: a server answers.
	Connected Phase = metering.StateConnected
	// Unanswered: there is a connection, and a heartbeat is late.
	Unanswered Phase = "unanswered"
	// Disconnected: the connection is lost. Leases run until their deadline.
	Disconnected Phase = metering.StateDisconnected
	// Closed: the session has ended for good.
	Closed Phase = "closed"
)

// counted is the word under which the figures count a session in this phase; "" for none.
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
	// Since is when the phase began.
	Since time.Time
	// Server is the address last connected to, "" before there was one.
	Server string
	// Epoch counts the ZooKeeper sessions, from 1; ID is that of the present one, zero before it is
	// granted.
	Epoch uint64
	ID    int64
	// Timeout is the session timeout.
	Timeout time.Duration
	// Silence is how long no server has answered, through all phases: see zkconn.Conn.Silence.
	Silence time.Duration
	// Lease is the time left of the session's leases; not above zero when they are over, or none is
	// needed.
	Lease time.Duration
	// Lapsed: no lease may rest on the ZooKeeper session: its servers have not proved in time that
	// it lives. The next begins when a request wants a lock.
	Lapsed bool
	// NodeBytes is the weight of the session's ephemeral nodes, MaxNodeBytes its bound: see WithMaxNodeBytes.
	NodeBytes, MaxNodeBytes int
	// Inside counts the requests that wait inside the session, without a node: see WithMaxWaiting.
	Inside int
	// Cause is why there is no connection; nil while there is one.
	Cause error
	// Trouble says why reachable servers do not carry a request out, such as "the server hangs up
	// on create container /x, 5 times"; the newest, "" for none. Stuck: none has been carried out
	// since.
	Trouble string
	Stuck   bool
}

// readyFor is the part of a session timeout for which silent servers leave a session ready: leases
// survive outages of that length (locks/guides/timeouts.md).
const readyFor = 5

// Ready reports whether the session can lock and keep locks: see locks.Client.Ready.
func (c Connection) Ready() bool {
	return c.Phase != Closed && !c.Stuck && c.Server != "" && c.Silence < c.Timeout/readyFor
}

// phases has the phase of the connection. The session actor changes it, anybody may read it.
type phases struct {
	mu          sync.Mutex
	now         Connection // without what is measured
	silentSince time.Time  // no server has answered since; valid while not Connected
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

func (p *phases) begin() {
	if p.changed == nil {
		p.now.Phase, p.now.Since, p.changed = Connecting, time.Now(), make(chan struct{})
		p.silentSince = p.now.Since
	}
}

// become changes the phase; server is "" where it stays the same. Closed is final.
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
	lapsed := p.now.Lapsed && to != Connecting // the next session is not; this one may lapse before it is connected
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

func (p *phases) belongsTo(epoch uint64, id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Epoch, p.now.ID = epoch, id
}

func (p *phases) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *phases) lapsed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin()
	p.now.Lapsed = true
	p.tell()
}

func (p Phase) connected() bool { return p == Connected || p == Unanswered }

func (p *phases) connected() bool {
	now, _ := p.current()
	return now.Phase.connected()
}

func (p *phases) answered() {
	if now, _ := p.current(); now.Phase == Unanswered {
		p.become(Connected, "", 0)
	}
}

// troubles lists the requests of a session that cannot be carried out; anybody may look.
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

// ofSession is a trouble of the session, for as long as that lasts.
const ofSession coordinator.RequestID = 0

// note sets what keeps a request from being carried out; "" for nothing any more.
func (t *troubles) note(of coordinator.RequestID, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(have trouble) bool { return have.of == of })
	if text != "" {
		t.all = append(t.all, trouble{of, text})
	}
	t.stuck = len(t.all) > 0 && (t.stuck || text != "")
}

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
