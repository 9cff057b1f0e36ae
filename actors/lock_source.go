package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// LockSource is where a lock comes from: a *Session, or gateways (package gateway).
type LockSource interface {
	// NewLock makes the props of a lock actor.
	NewLock(want messages.Acquire, opts ...LockOption) *actor.Props
	// Clock is the lease clock of a grant: that of its messages.Held.Epoch.
	Clock(epoch uint64) *zkconn.LeaseClock
}

// NewLock is the function NewLock with this session.
func (s *Session) NewLock(want messages.Acquire, opts ...LockOption) *actor.Props {
	return NewLock(s, want, opts...)
}
