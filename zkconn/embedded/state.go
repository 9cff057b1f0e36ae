package embedded

import (
	"net"
	"sync"
	"time"
)

// The state of a server: its ensemble, the replicas of it, their connections, sessions, and links
// to each other. They refer to each other, so they are declared together. The code for each is in
// its own file.

// ensemble is the state that the replicas share, the leader's included. One lock guards all of
// it, the trees included: the work under it takes microseconds, and one order of everything makes the
// server easy to trust. Nobody waits for the network under it.
type ensemble struct {
	settings
	mu       sync.Mutex
	secret   [32]byte
	replicas []*Replica
	leader   *Replica // nil while there is no majority
	zxid     int64    // the newest that was given out: epoch << 32 | counter

	sessions     map[int64]*session
	sessionOrder set[int64]
	nextSession  int64

	lines  map[[2]*Replica]line // the network, where something is wrong with it
	intake []func()             // requests that the leader has, and no majority yet to carry them out
	newest *tree                // of the leader, or of the last leader: a majority has it

	faults    faults
	stopTick  func()
	stopPulse func()
	stopReap  func()    // where containers are reaped between ticks
	ticked    time.Time // the newest tick
	lastReap  time.Time
	closed    bool
}

// Replica is one server of the ensemble, with a tree, connections and an address of its own. A server that
// was started alone has one, which is its own leader.
type Replica struct {
	e        *ensemble
	number   int
	addr     string
	listener net.Listener
	running  bool
	refusing bool

	tree    *tree
	behind  []*txn // committed, and not applied here yet
	results []result
	lagging bool
	held    bool // replies stay here
	unheard bool // what clients send stays unread

	link    *link                   // to the leader; nil for the leader, and for a replica without one
	touched map[int64]time.Duration // sessions heard of since the leader's last ping, with their timeouts
	looking bool                    // has lost the leader, or cannot reach it
	losing  bool                    // see LoseTouch
	cut     isolation
	pause   pausePhase

	minTimeout, maxTimeout time.Duration

	conns     set[*conn]
	bySession map[int64]*conn
	tasks     sync.WaitGroup
	control   sync.Mutex // one Start or Stop at a time, the latter's wait included

	received, sent int64 // packets
	latency        latency
}

// isolation says whether a replica was cut off, and how.
type isolation int

const (
	connected isolation = iota // it can reach the others, where their links allow
	cutOff                     // it cannot
	deposed                    // it cannot; it was the leader, and thinks that it still is
)

// pausePhase says how Pause has stopped a replica, and what Resume does beyond letting it run.
type pausePhase int

const (
	awake            pausePhase = iota
	asleep                      // it reads and sends nothing
	asleepDropping              // asleep; it drops its clients when it wakes up
	asleepOverthrown            // asleep; the others have left their leader, which learns it after it has woken up
)

// paused means that the replica neither reads nor sends.
func (r *Replica) paused() bool { return r.pause != awake }

// conn is one client's connection to one replica. The ensemble's lock guards every field that is
// not said to belong to a goroutine.
type conn struct {
	r      *Replica
	e      *ensemble
	stream net.Conn
	out    *output
	done   chan struct{} // closed with the connection

	who       []identity
	exchange  digestExchange
	sessionID int64
	timeout   time.Duration
	heard     time.Time // when it last sent anything
	opened    time.Time
	phase     connPhase
	waiting   []*exchange
	early     [][]byte // frames that came before the session was established
	unread    [][]byte // frames that came while the replica read nothing
	gone      bool     // the client has closed it
	busy      bool     // its reading goroutine carries out a request, and will have the results sent
	mute      bool     // the reply to the request at hand is not sent
	cutting   bool     // it is closed when the request at hand has been carried out

	received, sent int64 // packets
}

// connPhase is the phase of a connection. It never goes back.
type connPhase int

const (
	fresh       connPhase = iota
	greeted               // the first frame has been read
	established           // it has a session
	parked                // its requests are ignored: it waits for a leader that cannot be reached, or for its end
	closed
)

// exchange is a request that waits for its answer: for the leader's, or for the answer to the
// request before it, because a connection's answers keep the order of its requests.
type exchange struct {
	known  bool
	answer func() (open bool) // sends it; false when the connection is to be closed
	mute   bool               // it is not sent
}

// session is a client's session, as the leader keeps it. It outlives connections.
type session struct {
	id      int64
	created time.Duration // the timeout that it was opened with, which a new leader knows
	expires time.Time     // at the tick that is at or after this; zero while it does not run
	closing bool          // its time has run out; the transaction that ends it may wait for a majority
	at      *Replica      // where its client is connected; writes from elsewhere are refused
}

// link is a follower's connection to its leader: two streams, each in its order. Pings and
// transactions go down; requests and the answers to pings go up. A ping therefore never overtakes a
// transaction, nor its answer a request.
type link struct{ down, up *stream }

// stream is one direction of a link. The ensemble's lock guards it.
type stream struct {
	from, to *Replica
	queue    []message
	heard    time.Time // when a message was last delivered
	busy     bool      // a message is being delivered
	waking   bool      // a timer delivers the delayed messages
	ended    bool
}

// message carries an action that the receiver does when it arrives.
type message struct {
	due     time.Time // not before
	deliver func()
	ping    bool
}

// line is the state of the network from one replica to another.
type line struct {
	stalled bool
	delay   time.Duration
}

// latency has the times that requests took, in milliseconds.
type latency struct{ least, most, sum, count int64 }

func (l *latency) add(ms int64) {
	if l.count == 0 || ms < l.least {
		l.least = ms
	}
	l.most = max(l.most, ms)
	l.sum += ms
	l.count++
}

func (l *latency) average() float64 {
	if l.count == 0 {
		return 0
	}
	return float64(l.sum) / float64(l.count)
}
