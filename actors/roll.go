package actors

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// roll names the lock actors that may be waiting for an answer of the session actor. When that ends, an order may be
// in its mailbox that nobody will read, without a dead letter: then each is told so. (Watching the session actor
// would do the same, at several times the cost in memory and messages.)
type roll struct {
	mu    sync.Mutex
	locks map[string]*actor.PID
	over  bool
}

// enroll adds a lock actor; false when the session actor has ended already.
func (r *roll) enroll(lock *actor.PID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	if r.locks == nil {
		r.locks = map[string]*actor.PID{}
	}
	r.locks[lock.Id] = lock
	return true
}

// strikeOff takes a lock actor off the roll.
func (r *roll) strikeOff(lock *actor.PID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.locks, lock.Id)
}

// dismiss tells all that are left that the session actor has ended.
func (r *roll) dismiss(root *actor.RootContext) {
	r.mu.Lock()
	left := r.locks
	r.locks, r.over = nil, true
	r.mu.Unlock()
	for _, lock := range left {
		root.Send(lock, &alarm{machine.Event{Kind: machine.Closed}})
	}
}
