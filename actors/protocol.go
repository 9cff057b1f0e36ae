package actors

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// connectionEvent carries an event of the connection to the session actor.
type connectionEvent struct {
	mailbox.Quiet
	zkconn.Event
}

// order asks the session for one effect of the machine. An order that was decided in an epoch that is over is void, and
// the event of its end is on its way to the lock actor.
type order struct {
	mailbox.Quiet
	coordinator.Order
}

// orders reuses orders that were carried out: a hand-off takes four. The coordinator keeps none.
var orders = sync.Pool{New: func() any { return new(order) }}

// lockEvent carries an event to a lock actor, with the session in which it happened.
type lockEvent coordinator.Tell

// IgnoreDeadLetterLogging is the method of mailbox.Quiet: the event is sent as the coordinator made it.
func (*lockEvent) IgnoreDeadLetterLogging() {}

// sessionInfo describes a session in one epoch. Immutable, except for the clock.
type sessionInfo struct {
	epoch   uint64
	session int64
	timeout time.Duration
	clock   *zkconn.LeaseClock
}

// queryDone brings the result of a goroutine to the session actor: the answer to a query of the coordinator and the
// time that it took, or else a function to call. panicked is a panic of the goroutine's.
type queryDone struct {
	mailbox.Quiet
	epoch    uint64
	reply    coordinator.Reply
	took     time.Duration
	then     func() // nil for a reply
	panicked any
}

// timerFired is a timer of the coordinator that has fired.
type timerFired struct {
	mailbox.Quiet
	epoch, timer uint64
}

// pauseOver: a session that has lapsed may be replaced.
type pauseOver struct {
	mailbox.Quiet
	epoch uint64
}

// lockEnded says that a lock actor has stopped. It comes behind all its orders. A node that is left
// is the session's to delete.
type lockEnded struct {
	mailbox.Quiet
	request coordinator.RequestID
}

// broughtBy says which sender brings a message to the session's mailbox.
func broughtBy(message any) mailbox.From {
	switch message.(type) {
	case *order, lockEnded:
		return mailbox.Locks
	case *queryDone:
		return mailbox.Worker
	}
	return mailbox.Others
}

// shutdown asks the session actor to close the session and stop. It may go on to tell the servers until then.
type shutdown struct {
	mailbox.Quiet
	until time.Time
}

// assignment gives a lock actor of SpawnLock its request and its listener.
type assignment struct {
	want      *messages.Acquire
	listener  Listener
	observers []*actor.PID
}

// lockTimerFired is a timer of a lock actor that has fired.
type lockTimerFired struct {
	mailbox.Quiet
	event machine.Event
}

// registry lists the lock actors to which the session actor sends events: all that have begun and not
// ended. The coordinator knows the nodes of their requests. A lock actor adds itself before its first
// order and removes itself when it stops. So an event of the session reaches it, or is dropped because
// it has stopped.
//
// It outlives the session actor. When that has stopped, an order may be in its mailbox that nobody will read, without a
// dead letter: close tells each lock actor so. (Watching the session actor would do the same, at several times the cost
// in memory and messages.)
type registry struct {
	mu     sync.Mutex
	locks  map[coordinator.RequestID]*actor.PID
	newest coordinator.RequestID
	over   bool
	// withdrawn are those of them that were given up while their nodes may be being made.
	withdrawn map[coordinator.RequestID]struct{}
}

// add adds a lock actor, and names its request. alive is false when the session actor has stopped already.
func (r *registry) add(lock *actor.PID) (id coordinator.RequestID, alive bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest++
	if r.over {
		return r.newest, false
	}
	if r.locks == nil {
		r.locks = map[coordinator.RequestID]*actor.PID{}
	}
	r.locks[r.newest] = lock
	return r.newest, true
}

// find gives the lock actor of a request; nil when it has ended.
func (r *registry) find(id coordinator.RequestID) *actor.PID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.locks[id]
}

// withdraw notes that a request was given up.
func (r *registry) withdraw(id coordinator.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.withdrawn == nil {
		r.withdrawn = map[coordinator.RequestID]struct{}{}
	}
	r.withdrawn[id] = struct{}{}
}

// wanted reports whether a request has neither been given up nor ended.
func (r *registry) wanted(id coordinator.RequestID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, withdrawn := r.withdrawn[id]
	return !withdrawn && r.locks[id] != nil
}

// all gives the lock actors in the order in which they came.
func (r *registry) all() (locks []*actor.PID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.locks)) {
		locks = append(locks, r.locks[id])
	}
	return locks
}

// remove removes a lock actor.
func (r *registry) remove(id coordinator.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.locks, id)
	delete(r.withdrawn, id)
}

// close tells all that are left that the session actor has stopped. None is added from then on.
func (r *registry) close(root *actor.RootContext) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	for _, lock := range r.all() {
		root.Send(lock, &lockTimerFired{event: machine.Event{Kind: machine.Closed}})
	}
}
