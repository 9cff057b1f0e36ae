package actors

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// registry names the lock actors that may be waiting for an answer of the session actor. When that ends, an order may be
// in its mailbox that nobody will read, without a dead letter: then each is told so. (Watching the session actor
// would do the same, at several times the cost in memory and messages.)
type registry struct {
	mu     sync.Mutex
	locks  map[coordinator.RequestID]*actor.PID
	newest coordinator.RequestID
	over   bool
}

// add adds a lock actor, and names its request; false when the session actor has ended already.
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

// remove takes a lock actor out.
func (r *registry) remove(id coordinator.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.locks, id)
}

// close tells all that are left that the session actor has ended.
func (r *registry) close(root *actor.RootContext) {
	r.mu.Lock()
	left := r.locks
	r.locks, r.over = nil, true
	r.mu.Unlock()
	for _, lock := range left {
		root.Send(lock, &lockTimerFired{event: machine.Event{Kind: machine.Closed}})
	}
}
