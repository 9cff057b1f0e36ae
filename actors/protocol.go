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

type connectionEvent struct {
	mailbox.Quiet
	zkconn.Event
}

// order asks the session for one effect of the machine. It is void after the end of its epoch, of
// which the lock actor is about to hear.
type order struct {
	mailbox.Quiet
	coordinator.Order
}

// orders reuses orders that were carried out: a hand-off takes four. The coordinator keeps none.
var orders = sync.Pool{New: func() any { return new(order) }}

type lockEvent coordinator.Tell

// IgnoreDeadLetterLogging is mailbox.Quiet's: the event is sent as the coordinator made it.
func (*lockEvent) IgnoreDeadLetterLogging() {}

// sessionInfo describes a session in one epoch. Immutable, except for the clock.
type sessionInfo struct {
	epoch   uint64
	session int64
	timeout time.Duration
	clock   *zkconn.LeaseClock
}

// queryDone brings the session actor the result of a goroutine: an answer and the time that it
// took, a function to call, or a panic.
type queryDone struct {
	mailbox.Quiet
	epoch    uint64
	reply    coordinator.Reply
	took     time.Duration
	then     func()
	panicked any
}

type timerFired struct {
	mailbox.Quiet
	epoch, timer uint64
}

// lockEnded says that a lock actor has stopped. It comes after all its orders. A node that is left
// is the session's to delete.
type lockEnded struct {
	mailbox.Quiet
	request coordinator.RequestID
}

// ownMessage: other senders may hold a mutex that the session actor needs.
func ownMessage(message any) bool {
	switch message.(type) {
	case *order, lockEnded, *queryDone:
		return true
	}
	return false
}

// shutdown asks the session actor to close the session and stop. It may try to tell the servers
// until then.
type shutdown struct {
	mailbox.Quiet
	until time.Time
}

type assignment struct {
	want      *messages.Acquire
	listener  Listener
	observers []*actor.PID
}

type lockTimerFired struct {
	mailbox.Quiet
	kind machine.Kind // Release: the owner is gone
	op   uint64
}

// registry lists the lock actors that have begun and not ended: those to which the session actor
// sends events. They add and remove themselves.
//
// It outlives the session actor. Orders to a stopped session actor are not read, and make no dead
// letter: close tells each lock actor so, for less than watching costs.
type registry struct {
	mu     sync.Mutex
	locks  map[coordinator.RequestID]registered
	newest coordinator.RequestID
	over   bool
}

// registered is a lock actor. withdrawn: its request was given up while its node may be being made.
type registered struct {
	lock      *actor.PID
	withdrawn bool
}

func (r *registry) add(lock *actor.PID) (id coordinator.RequestID, alive bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest++
	if r.over {
		return r.newest, false
	}
	if r.locks == nil {
		r.locks = map[coordinator.RequestID]registered{}
	}
	r.locks[r.newest] = registered{lock: lock}
	return r.newest, true
}

func (r *registry) find(id coordinator.RequestID) *actor.PID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.locks[id].lock
}

func (r *registry) withdraw(id coordinator.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one, known := r.locks[id]; known {
		r.locks[id] = registered{one.lock, true}
	}
}

func (r *registry) wanted(id coordinator.RequestID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.locks[id]
	return one.lock != nil && !one.withdrawn
}

func (r *registry) all() (locks []*actor.PID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.locks)) {
		locks = append(locks, r.locks[id].lock)
	}
	return locks
}

func (r *registry) remove(id coordinator.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.locks, id)
}

// close tells all that are left that the session actor has stopped, and lets none be added.
func (r *registry) close(root *actor.RootContext) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	for _, lock := range r.all() {
		root.Send(lock, &lockTimerFired{kind: machine.Closed})
	}
}
