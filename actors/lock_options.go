package actors

import (
	"sync/atomic"

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

// WithRevokedMark names a mark that is set when the lock is given back by force, before anybody else can have it: the
// notice takes its time, and who looks at a lease does not wait for it.
func WithRevokedMark(mark *atomic.Bool) LockOption {
	return func(l *lock) { l.revoked = mark }
}

// Listener is code that is no actor and takes what a lock actor tells: package locks has one for each call of Lock. Its
// methods are called by the lock actor, one at a time, and must not wait for anything.
type Listener interface {
	// Moved tells every change of state. node is the contender's, "" while there is none.
	Moved(to messages.State, node string)
	// Hear takes the notices that a parent would be sent, and when the lock actor has ended *actor.Stopped, the
	// last of all.
	Hear(lock *actor.PID, notice any)
}

// WithListener names a listener.
func WithListener(to Listener) LockOption {
	return func(l *lock) { l.listener = to }
}
