package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Coordinator decides what a session does for its requests. Make one with New.
type Coordinator struct {
	off    Switches
	bounds Bounds
	// timeout is the session timeout that is asked for.
	timeout time.Duration
	seed    uint64 // of the marks of epochs
	// requests has the requests of this session, also ended ones of which a node may be left. They
	// outlive epochs.
	requests map[RequestID]*request
	epoch    epoch
	numbers  uint64 // of asks and timers, given so far
	stale    int64
	polls    int64 // see Counts.Polls

	doomed bool     // the session is to end with the input at hand, because a node of it may not be deleted
	at     At       // of the input at hand
	out    []Output // likewise
}

// Switches are fast paths that are switched off.
type Switches uint8

// The switches, in the order of FastPaths.
const (
	// GroupCommit has creates and deletes share transactions when there are many, and bursts form.
	GroupCommit Switches = 1 << iota
	// HandOver grants a lock that is given back to the next request of the same session, before the
	// node is gone.
	HandOver
	// LookAhead has a waiter find out as soon as its predecessor holds, where that is of another
	// session and waits itself. It costs one more read; the grant then needs only an event.
	LookAhead
)

// FastPaths names them all.
func FastPaths() []string { return []string{"group-commit", "hand-over", "look-ahead"} }

// ParseSwitches reads names, between commas. The error names the unknown one.
func ParseSwitches(names string) (off Switches, err error) {
	all := FastPaths()
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }) {
		i := slices.Index(all, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no fast path; there are %s", name, strings.Join(all, ", "))
		}
		off |= 1 << i
	}
	return off, nil
}

// New makes the coordinator of a session whose first epoch is one. timeout is the session timeout that is asked for, seed a
// random number that no other session has.
func New(off Switches, timeout time.Duration, bounds Bounds, seed uint64) *Coordinator {
	return &Coordinator{off: off, bounds: bounds, timeout: timeout, seed: seed, requests: map[RequestID]*request{},
		epoch: newEpoch(1, timeout, seed)}
}

// epoch is all that dies with a ZooKeeper session. It is replaced whole: nothing of it is cleared by hand.
type epoch struct {
	number  uint64
	mark    mark          // that the names of its nodes have
	timeout time.Duration // of the session
	// connected: a server has the session on the newest connection. Only the session actor tells more (actors.Phase).
	connected  bool
	lapsed     bool // no lease may rest on the session any more
	paths      map[string]*lockPath
	idle       []string // the paths that no request uses, the longest idle first
	asked      map[uint64]purpose
	timers     map[uint64]timer
	parked     []parked
	batch      batch
	beats      beats
	reads      reads
	leaseTimer uint64 // checks the lease; zero for none
	leaseTerm  uint64 // the newest term of the lease that the requests know of; the first is one
	held       int    // requests that hold
	load       load
	// lateTimer runs while creates whose replies were lost may yet be carried out: see ledger.go.
	lateTimer uint64
	// strayHangUps counts the removals of strays on which the servers hung up since it fired.
	strayHangUps int
	// burstsOver are the queues whose bursts are over with the input at hand; empty between inputs.
	burstsOver []*ownQueue
}

// Bounds bound the nodes that a session has at the servers.
type Bounds struct {
	// Waiting is the number of requests of one queue that may wait with a node, or be about to make one.
	Waiting int
	// Weight is the bound on the weight of all ephemeral nodes of the session, in bytes.
	Weight int
	// Root is the length of the session's chroot, which is part of each path at the servers.
	Root int
	// Streak is the number of nodes in a row with successive numbers before a lock path is not
	// listed: see succession.go.
	Streak int
}

// DefaultBounds gives the usual bounds. The weight is half of what a server reads with default
// settings: 1 MiB is jute.maxbuffer, to which it adds as much again for its own
// (jute.maxbuffer.extrasize) when it reads a log.
func DefaultBounds() Bounds { return Bounds{Waiting: 256, Weight: 512 << 10, Streak: 3} }

// load is the part of the bounds that is used, in bytes.
type load struct {
	// nodes is the weight of requests that are admitted, others that of nodes that only the shell knows.
	nodes, others int
	// shares has the part of each requester of a gateway in nodes.
	shares map[string]int
}

func newEpoch(number uint64, timeout time.Duration, seed uint64) epoch {
	return epoch{number: number, mark: markOf(seed + number), timeout: timeout, leaseTerm: 1, paths: map[string]*lockPath{},
		asked: map[uint64]purpose{}, timers: map[uint64]timer{}, load: load{shares: map[string]int{}}}
}

// parked is an order that waits for the connection.
type parked struct {
	request RequestID
	effect  machine.Effect
}

// batch has the changes that wait to be committed.
type batch struct {
	waiting  []change
	underway int // transactions
	passed   int // transactions that went before deletes that wait
}

// beats is the state of the heartbeats.
type beats struct {
	// newest is the number of the newest heartbeat: one is under way, or due, at a time. It is zero
	// while there are no heartbeats.
	newest uint64
	// timer is the timer of the next heartbeat, or of the late one.
	timer uint64
	// sent counts heartbeats, to choose the node for the next.
	sent uint64
	hangUps
}

// hangUps are the heartbeats on which the servers hung up, one after the other, while nothing else was lost.
type hangUps struct {
	many int
	// failed: since the connection was made a heartbeat was hung up on; others: another query, too.
	failed, others bool
}

// reads are the own nodes that are owed a read, in the order in which they were asked for.
type reads struct{ older, newer []operation }

// request is one lock request. It outlives epochs; reset replaces the fields that belong to one.
type request struct {
	id   RequestID
	spec *Spec
	kind kind
	life life
	// weight is that of its node, at the servers. In a contest it is that of the guard, too.
	weight int

	queue *ownQueue // of this epoch
	node  *node     // never nil
	wait  *wait     // the nodes that it watches while it waits; nil while it does not
	view  lastListing
	ahead ahead
	own   ownWatch
	asks  holderAsks
	// search is the newest Verify that was not answered; zero for none.
	search  uint64
	removal removal
	pace    *pace // nil while none of its orders fails
	held    bool  // the machine has said that the lock is granted
	// admitted: it has a node, or is to have one. counted says how it is counted.
	admitted bool
	counted  counted
	// inherited is the token of the writer beside whose node it makes its own, in a downgrade, or the token that it has
	// with a node that it takes over; zero for others.
	inherited messages.Token
	// early is the queue as it was listed behind its create.
	early *View
	// gaveBack is the time at which its lock actor asked to give the lock back.
	gaveBack Moment
}

// ahead names the node before the predecessor of an exclusive request, "" for none: see look_ahead.go.
type ahead struct {
	next    string // as the newest listing shows it, until it is watched
	watched string // while it is watched
}

func (a *ahead) watches(name string) bool { return name != "" && a.watched == name }

// counted is what a request adds to the bounds of its session and its queue, and to the requests that hold.
type counted struct{ weight, waits, holds int }

// watches reports whether a request waits for events of a node.
func (r *request) watches(name string, as role) bool {
	switch as {
	case awaitsNode:
		return r.wait != nil && (name == children && r.wait.children || slices.Contains(r.wait.nodes, name) || r.ahead.watches(name))
	case attends:
		return r.asks.contention != 0 && (name == children || r.node.name == name)
	default:
		return r.own.phase == watched && r.node.name == name
	}
}

// waitsFor reports whether a request waits for nobody but the node right before its own, which is of this session.
func (r *request) waitsFor(before *node) bool {
	if r.spec.One != "" || r.spec.Permits > 0 || r.spec.Want.WatchAll {
		return false
	}
	style, _ := queue.Parse(before.name)
	return queue.WaitsFor(r.spec.Style.Mode, style.Mode)
}

// ofWait is the operation of the wait that a purpose belongs to.
type ofWait struct{ operation }

// stale: an event came first, or the request has gone on.
func (p ofWait) stale(c *Coordinator, _ uint64) bool {
	return !c.requests[p.request].waitsIn(p.op)
}

// waitsIn reports whether a request still waits as it did in an operation.
func (r *request) waitsIn(op uint64) bool { return r != nil && r.wait != nil && r.wait.op == op }

// token makes the token of the node of a request, that was made or found.
func (r *request) token(czxid int64) (messages.Token, error) {
	token, err := messages.NewToken(czxid, r.node.place)
	if r.inherited != 0 {
		token = r.inherited
	}
	return token, err
}

// kind has the differences between kinds of locks. Its values have no state.
type kind interface {
	// create has the node made that a request asks for.
	create(c *Coordinator, r *request, op uint64)
	// list finds out where a request stands.
	list(c *Coordinator, r *request, op uint64)
	// noteListing notes where a listing shows a request. It gives the reason why the request cannot
	// wait there; "" where it can.
	noteListing(r *request, position queue.Position, permits int) (wrong string)
	// watch watches the nodes that keep a request out. predecessor is the name of the nearest.
	watch(c *Coordinator, r *request, predecessor string)
	// lookedAhead takes the listing that a waiter has asked for: see look_ahead.go.
	lookedAhead(c *Coordinator, r *request, op uint64, found *View)
	// remove has the node deleted.
	remove(c *Coordinator, r *request, op uint64)
}

// purpose is the purpose of a query: plain data, that names requests and paths.
type purpose interface {
	// answered takes the answer.
	answered(c *Coordinator, id uint64, answer Answer)
}

// counting is a purpose that counts by itself whether its query was carried out: also where the answer comes too late.
type counting interface {
	counted(c *Coordinator, f Failure)
}

// passing is a purpose whose answer may come too late. The answers to others always matter: they say whether a node exists,
// or end something that is counted as under way.
type passing interface {
	// stale reports whether nobody waits for the answer any more. It is counted and dropped then.
	stale(c *Coordinator, id uint64) bool
}

// TimerKind is the kind of a timer's purpose.
type TimerKind uint8

// The kinds of timers.
const (
	NoTimer TimerKind = iota
	// CreatesTimer sends creates that were delayed, DeletesTimer deletes.
	CreatesTimer
	DeletesTimer
	// ReadTimer reads the nodes of holders.
	ReadTimer
	// RetryTimer retries a removal that has failed.
	RetryTimer
	// BeatTimer sends the next heartbeat, LateTimer finds one without an answer.
	BeatTimer
	LateTimer
	// LeaseTimer checks the lease.
	LeaseTimer
	// LookTimer looks at a lock path once more.
	LookTimer
	// PauseTimer ends the pause of a request.
	PauseTimer
	// WatchTimer ends the belief in the watch of a lock path.
	WatchTimer
	// CreateTimer looks for the nodes of creates that come late.
	CreateTimer
)

// timer is the purpose of a timer, with the operation that it serves.
type timer struct {
	kind TimerKind
	operation
	// path and queue name the burst whose changes are delayed; path also names a watch, and what is looked at.
	path, queue string
}

// knownPaths bounds the lock paths that are remembered though no request uses them.
const knownPaths = 4096

// pathOf finds a lock path, or makes it.
func (e *epoch) pathOf(path string) *lockPath {
	p := e.paths[path]
	if p == nil {
		p = &lockPath{path: path, watchers: map[string][]watcher{}}
		e.paths[path] = p
	}
	return p
}

// nodes lists all nodes of this session, with their lock paths.
func (e *epoch) nodes(yield func(*lockPath, *node) bool) {
	for _, p := range e.paths {
		for _, q := range p.queues {
			for _, n := range q.nodes {
				if !yield(p, n) {
					return
				}
			}
		}
	}
}

// leavePath looks whether a path is out of use. The session keeps its knowledge of it for a while. Of more than
// knownPaths, the one goes that was first out of use.
func (e *epoch) leavePath(p *lockPath) {
	if p.requests > 0 || p.inUse() {
		return
	}
	if len(p.queues) > 1 { // a program may name its queues anew each time
		p.queues = p.queues[:1:1]
	}
	if !p.idle {
		p.idle = true
		e.idle = append(e.idle, p.path)
	}
	for len(e.idle) > knownPaths {
		oldest := e.paths[e.idle[0]]
		e.idle[0] = "" // or else the array keeps it
		e.idle = e.idle[1:]
		switch {
		case oldest.requests > 0 || oldest.inUse():
			oldest.idle = false
		default:
			delete(e.paths, oldest.path)
		}
	}
}

// Wanted reports whether there is a request that wants a lease: one that waits or holds, and was not given up.
func (c *Coordinator) Wanted() bool {
	for _, r := range c.requests {
		if r.life == active {
			return true
		}
	}
	return false
}

// reset makes a request begin this epoch, with nothing at the servers.
func (c *Coordinator) reset(r *request) {
	*r = request{id: r.id, spec: r.spec, kind: r.kind, life: r.life, weight: r.weight, gaveBack: r.gaveBack, inherited: r.inherited,
		node: &node{of: r.id}, admitted: r.counted.waits > 0, pace: r.pace}
	if r.pace != nil { // its timer ends with the epoch
		r.pace = &pace{do: r.pace.do, failures: r.pace.failures, deferred: r.pace.deferred}
	}
	p, name, one := c.epoch.pathOf(r.spec.Path), r.spec.Style.Name, r.spec.One
	if r.queue = p.queueNamed(name, one); r.queue == nil {
		r.queue = &ownQueue{path: p, name: name, one: one}
		p.queues = append(p.queues, r.queue)
	}
	p.requests++
}
