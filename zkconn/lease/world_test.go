package lease_test

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// The members: the leader at the start, its follower, and the one that an election makes the leader.
const (
	first = iota
	follower
	second
	members
)

// nobody is the leader of a member that has left its own and found no other.
const nobody = int8(-1)

// life is a leader's view of the session.
type life uint8

const (
	queued  life = iota // it is tracked, and due some time
	taken               // off the expiry queue: it looks alive, and is closed all the same
	removed             // closed, with its locks given away
)

// tracker is SessionTrackerImpl at one leader.
type tracker struct {
	due    int
	life   life
	pinged int  // when it last sent pings
	blocks bool // a deposed leader waits for a quorum: nothing behind is answered
}

// member is a server.
type member struct {
	leader   int8 // whom it follows; itself when it leads
	open     uint64
	timeout  int // that it grants
	table    int // LearnerSessionTracker's touch table: the timeout of the newest touch, 0 for none
	swapped  int // when it was last swapped
	lossUsed bool
}

// what kind of message it is.
type what uint8

const (
	connect what = iota // client to server, then REVALIDATE, and the answers
	packet              // a client's request, or ping
	ping                // between leader and follower
	hangsUp             // the server has closed the connection
)

type message struct {
	what    what
	conn    uint64
	xid     int32
	kind    lease.Kind
	touch   int  // of a ping's answer, and of a connect request: the timeout
	decided bool // of an answer
}

// The streams, each in order.
const (
	in   = iota // client to server
	up          // follower to leader
	down        // leader to follower
	out         // server to client
	ways
)

// pipe is one stream.
type pipe struct {
	all     []message
	stalled bool
}

// world is the state that is explored.
type world struct {
	plan *plan

	now, lag  int // the client's clock is lag behind, and stands still until it is
	stands    int // what it showed when it fell behind
	chain     *lease.Chain
	until     lease.Instant // the lease, as of the last call
	proved    bool
	at        int8 // where the newest connection goes; -1 none
	conn      uint64
	connected bool
	lost      bool // the client has been told that the session is over
	xid       int32
	shortest  time.Duration // that the list has granted

	authority int // the leader with a quorum
	trackers  [members]tracker
	members   [members]member
	pipes     [members][ways]pipe
	losing    bool // the next put at the follower is lost
	elsewhere int  // when another client ended the session; -1 before
	left      bounds
	last      move
}

// bounds says how often each optional event may happen.
type bounds struct{ Local, Ordered, Committed, Cuts, Connects, Stalls, Elections, Losses, Lags, Ends uint8 }

// plan describes one exploration.
type plan struct {
	Name     string
	T        int // the session timeout, in units of time; 0 at a member stands for it
	Timeouts [members]int
	Horizon  int
	Late     int // what pings may be late by, in units
	Lag      int // what the client's clock may fall behind by
	Start    int // where the first connection goes
	Servers  []int
	Ways     [ways]bool // that may stall
	Forever  bool       // the stream up never heals, and the others not after Until
	Phase    int        // when the leader last sent pings before the start
	Sure     bool       // begin with a transaction that was answered
	After    []move     // made when the plan begins
	Until    int        // when requests go out, streams begin to stall and the clock lags, at the latest; 0 for no bound
	Bounds   bounds
	Wrong    wrong
	Limit    int
}

// wrong is a mistake in what feeds the chain, or in the premises.
type wrong struct{ HeaderZero, Survives, NoPing, LosesBoth bool }

const unit = lease.Instant(time.Second)

func newWorld(p *plan) *world {
	w := &world{plan: p, chain: lease.New(0), at: -1, left: p.Bounds, elsewhere: -1}
	for i := range w.members {
		t := p.Timeouts[i]
		if t == 0 {
			t = p.T
		}
		w.members[i] = member{timeout: t, swapped: -1}
		if d := time.Duration(t) * time.Second; w.shortest == 0 || d < w.shortest {
			w.shortest = d
		}
	}
	start := p.Start
	w.conn, w.at, w.connected = w.chain.Connecting(w.clock(), w.shortest), int8(start), true
	w.members[start].open = w.conn
	w.trackers[first] = tracker{due: w.members[start].timeout, pinged: -p.Phase}
	w.chain.Connected(w.clock(), w.conn, time.Duration(w.members[start].timeout)*time.Second)
	w.read()
	if p.Sure {
		w.send(lease.Committed)
		w.run()
	}
	for _, m := range p.After {
		w.make(m)
	}
	return w
}

func (w *world) clone() *world {
	next := *w
	next.chain = w.chain.Clone()
	for i := range next.pipes {
		for j := range next.pipes[i] {
			next.pipes[i][j].all = append([]message(nil), w.pipes[i][j].all...)
		}
	}
	return &next
}

func (w *world) clock() lease.Instant { return lease.Instant(w.shown()) * unit }

// shown is the time by the client's clock. It never goes back, as the chain requires.
func (w *world) shown() int { return max(w.now-w.lag, w.stands) }

// half is half a tick, of which every member has the same. A member grants no timeout shorter than two ticks.
func (w *world) half() int { return int(w.shortest/time.Second) / 4 }

// read takes the lease from the chain, as zkconn does after each call.
func (w *world) read() { w.until, w.proved = w.chain.Lease() }

// valid reports whether the client relies on a lease now.
func (w *world) valid() bool {
	return w.proved && !w.lost && !w.chain.Broken(w.clock()) && w.clock() < w.until
}

// over: nothing can go wrong any more.
func (w *world) over() bool { return w.lost || w.chain.Broken(w.clock()) || w.now >= w.plan.Horizon }

// violated: the lease is valid, and the session's locks are given away. Where another client has ended the session, its
// lease may last for as long as a touch before that was good for.
func (w *world) violated() bool {
	ended := w.trackers[w.authority].life == removed && (w.elsewhere < 0 || w.now >= w.elsewhere+w.members[w.plan.Start].timeout)
	return ended && w.valid()
}

func (w *world) put(s, way int, m message) { w.pipes[s][way].all = append(w.pipes[s][way].all, m) }

// The client.

func (w *world) send(kind lease.Kind) {
	w.xid++
	pingFirst := w.chain.Sending(w.clock(), w.conn, w.xid, kind)
	if pingFirst && !w.plan.Wrong.NoPing {
		w.put(int(w.at), in, message{what: packet, conn: w.conn})
	}
	w.put(int(w.at), in, message{what: packet, conn: w.conn, xid: w.xid, kind: kind})
}

func (w *world) cut() {
	w.chain.Lost(w.clock())
	w.at, w.connected = -1, false
	w.read()
}

func (w *world) connect(s int) {
	w.conn, w.at, w.connected = w.chain.Connecting(w.clock(), w.shortest), int8(s), false
	w.put(s, in, message{what: connect, conn: w.conn})
	w.read()
}

// hears takes what comes from a server.
func (w *world) hears(m message) {
	if m.conn != w.conn || w.at < 0 {
		return
	}
	switch m.what {
	case connect:
		if !m.decided {
			w.lost = true
			return
		}
		granted := time.Duration(m.touch) * time.Second
		w.chain.Granted(w.clock(), m.conn, granted)
		w.chain.Connected(w.clock(), m.conn, granted)
		w.connected = true
	case packet:
		w.chain.Replied(w.clock(), m.conn, m.xid, m.decided)
	case hangsUp:
		w.cut()
	}
	w.read()
}

// The servers.

// serves takes a packet of a client at a server: it touches, and goes to the leader.
func (w *world) serves(s int, m message) {
	me := &w.members[s]
	if m.what == connect {
		me.open = m.conn
		m.touch = me.timeout
	} else if me.open != m.conn {
		return
	}
	switch {
	case me.leader == nobody:
	case int(me.leader) == s:
		if m.what == packet {
			w.touch(s, me.timeout)
		}
		if answer, some := w.leads(s, m); some && m.xid >= 0 {
			w.put(s, out, answer)
		}
	case m.what == connect:
		w.put(s, up, m)
	default:
		if w.losing && !me.lossUsed {
			me.lossUsed = !w.plan.Wrong.LosesBoth
		} else {
			me.table = me.timeout
		}
		if m.kind != lease.Local {
			w.put(s, up, m)
		}
	}
}

// touch is SessionTrackerImpl.touchSession. The expiry is not rounded up to a tick: at worst it falls on one.
func (w *world) touch(leader, timeout int) (valid bool) {
	t := &w.trackers[leader]
	if t.life == removed {
		return false
	}
	t.due = w.now + timeout
	return true
}

// leads has a leader handle a request.
func (w *world) leads(leader int, m message) (answer message, some bool) {
	t := &w.trackers[leader]
	answer = m
	switch {
	case m.what == connect:
		answer.decided = w.touch(leader, m.touch)
		return answer, true
	case m.kind == lease.Local:
		return answer, false
	case t.blocks:
		return answer, false
	case m.kind == lease.Committed && leader != w.authority:
		t.blocks = true
		return answer, false
	}
	answer.decided = m.kind == lease.Ordered || t.life != removed || w.plan.Wrong.HeaderZero
	return answer, true
}

// deliver takes the next message of a stream.
func (w *world) deliver(s, way int) {
	p := &w.pipes[s][way]
	m := p.all[0]
	p.all = p.all[1:]
	me := &w.members[s]
	switch way {
	case in:
		w.serves(s, m)
	case out:
		w.hears(m)
	case up:
		leader := int(me.leader)
		if m.what == ping {
			if m.touch > 0 {
				w.touch(leader, m.touch)
			}
		} else if answer, some := w.leads(leader, m); some {
			w.put(s, down, answer)
		}
	case down:
		if m.what == ping {
			w.put(s, up, message{what: ping, touch: me.table})
			me.table, me.swapped, me.lossUsed = 0, w.now, false
		} else {
			w.put(s, out, m)
		}
	}
}

// run delivers what no stall holds up.
func (w *world) run() {
	for again := true; again; {
		again = false
		for s := range w.pipes {
			for way := range w.pipes[s] {
				for p := &w.pipes[s][way]; !p.stalled && len(p.all) > 0; again = true {
					w.deliver(s, way)
				}
			}
		}
	}
}

// leaves: a server that leaves its leader closes its clients' connections (Learner.shutdown, Leader.shutdown).
func (w *world) leaves(s int, to int8) {
	me := &w.members[s]
	w.pipes[s][up].all, w.pipes[s][down].all = nil, nil
	if !w.plan.Wrong.Survives {
		if me.open != 0 {
			w.put(s, out, message{what: hangsUp, conn: me.open})
		}
		me.open = 0
	}
	me.leader, me.table = to, 0
}

// elect makes a new leader: it starts the session anew, with the timeout that it was created with.
func (w *world) elect() {
	w.leaves(second, second)
	w.trackers[second] = tracker{due: w.now + w.members[w.plan.Start].timeout, pinged: w.now}
	if w.trackers[first].life == removed {
		w.trackers[second].life = removed
	}
	w.authority = second
}

func (w *world) pings(leader int) {
	w.trackers[leader].pinged = w.now
	for s := range w.members {
		if s != leader && int(w.members[s].leader) == leader {
			w.put(s, down, message{what: ping})
		}
	}
}

func (w *world) runs(leader int) bool {
	return int(w.members[leader].leader) == leader
}

func (w *world) append(to []byte) []byte {
	num := func(all ...int) {
		for _, n := range all {
			to = binary.AppendVarint(to, int64(n))
		}
	}
	flag := func(all ...bool) {
		for _, b := range all {
			if b {
				to = append(to, 1)
			} else {
				to = append(to, 0)
			}
		}
	}
	to = w.chain.AppendState(to)
	num(w.now, w.lag, w.shown(), w.elsewhere, int(w.until), int(w.at), int(w.conn), int(w.xid), w.authority)
	flag(w.proved, w.connected, w.lost, w.losing)
	for s := range w.members {
		t, m := &w.trackers[s], &w.members[s]
		num(t.due, int(t.life), t.pinged, int(m.leader), int(m.open), m.table, m.swapped)
		flag(t.blocks, m.lossUsed)
		for way := range w.pipes[s] {
			p := &w.pipes[s][way]
			num(len(p.all))
			flag(p.stalled)
			for _, m := range p.all {
				num(int(m.what), int(m.conn), int(m.xid), int(m.kind), m.touch)
				flag(m.decided)
			}
		}
	}
	l := w.left
	return append(to, l.Local, l.Ordered, l.Committed, l.Cuts, l.Connects, l.Stalls, l.Elections, l.Losses, l.Lags, l.Ends)
}

// String is one line of a trace.
func (w *world) String() string {
	ends := w.chain.Ends()
	t := &w.trackers[w.authority]
	return fmt.Sprintf("%3d clock %3d  session %d due %d  lease %v until %.2f  chain ends %.2f  %s", w.now, w.shown(), t.life, t.due,
		w.valid(), float64(w.until)/float64(unit), float64(ends)/float64(unit), w.last)
}
