package actors

import "github.com/asynkron/protoactor-go/actor"

// LockOption changes how a lock actor works.
type LockOption func(*lock)

// WithObserver names actors that get every notice of the lock actor, as its parent does, and every
// messages.Transition. One on another node is refused, unless WithRemote is set.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(l *lock) { l.observers = append(l.observers, pids...) }
}

// WithOwner names an actor whose end means Release. The parent needs no naming: when it stops, its
// lock actors stop first. An owner that is restarted by its supervisor has not ended. One on
// another node is refused, unless WithRemote is set.
func WithOwner(pid *actor.PID) LockOption {
	return func(l *lock) { l.owner = pid }
}

// WithListener sets the listener.
func WithListener(to Listener) LockOption {
	return func(l *lock) { l.listener = to }
}

// WithRequester names the node for which a gateway asks. The nodes of one requester weigh at most a
// quarter of what those of the session may: see WithMaxNodeBytes. Package gateway sets it.
func WithRequester(node string) LockOption {
	return func(l *lock) { l.asker = node }
}

// WithRemote lets the parent, the owner and the observers of a lock actor run on other nodes. pack
// turns a message of package messages into one that protoactor's remote can send: wire.Pack, of
// package actors/gateway/wire. It is an argument so that programs without remote actors do not link
// gRPC.
//
// When the node of the owner, or of a parent, goes out of reach
// (actor.TerminatedReason_AddressTerminated), the owner has not ended: it may rely on the lock. The
// lock is given back, for messages.ReasonOwnerGone, at the end that the lease had at that moment.
// The owner cannot have been promised more. A request that waits is given up after a session
// timeout.
//
// An owner on another node gets notices late, or never, and no clock comes with them. To rely on
// the lock for a known time, use package gateway. NewAll refuses other nodes even so.
func WithRemote(pack func(message any) any) LockOption {
	return func(l *lock) { l.pack = pack }
}
