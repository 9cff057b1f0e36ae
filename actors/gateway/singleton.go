package gateway

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// NewSingleton makes the props of an actor that exists once in the cluster, on nodes without a
// session: it is actors.NewSingleton, whose lock comes from a gateway. What is said there is true
// here, with the lease of the gateway's promises: when the gateway is gone the lock is lost in time,
// and the next campaign goes to another one, where several are named. A node with a session and one
// without may campaign for one lock path.
//
// A client over the same gateways that is closed does not wait for the child: the lock is lost at
// once, and the context ends.
func NewSingleton(at *Gateways, want messages.Acquire, props *actor.Props,
	opts ...actors.SingletonOption) *actor.Props {
	return actors.NewSingleton(at, want, props, opts...)
}

var _ actors.LockSource = (*Gateways)(nil)

// NewLock is the function NewLock with these gateways.
func (g *Gateways) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	return NewLock(g, want, opts...)
}
