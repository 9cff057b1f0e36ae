package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// LockOption changes how a lock actor works.
type LockOption func(*lock)

// WithObserver names actors that get every notice of the lock actor, as its parent does, and besides
// every messages.Transition. One on another node is refused.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(l *lock) { l.observers = append(l.observers, pids...) }
}

// WithOwner names an actor whose end means Release. The parent needs no naming: what stops it stops
// its lock actors first. An owner that is restarted by its supervisor has not ended. One on another
// node is refused.
func WithOwner(pid *actor.PID) LockOption {
	return func(l *lock) { l.owner = pid }
}

// Listener is code that is not an actor and hears what a lock actor tells: package locks has one
// for each call of Lock. The lock actor calls its methods, one at a time; they must not block.
type Listener interface {
	// Moved tells every change of state. node is the contender's, "" while there is none.
	Moved(to messages.State, node string)
	// Hear takes the notices that a parent is sent, and *actor.Stopped as the last. After
	// *messages.Revoked the lock actor deletes the node only once Hear has returned, so that the
	// listener knows before anybody else holds.
	Hear(lock *actor.PID, notice any)
}

// WithListener names a listener.
func WithListener(to Listener) LockOption {
	return func(l *lock) { l.listener = to }
}
