package actors

import "github.com/asynkron/protoactor-go/actor"

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

// WithListener names a listener.
func WithListener(to Listener) LockOption {
	return func(l *lock) { l.listener = to }
}
