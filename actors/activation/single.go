package activation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
)

// At gives the same lock to each actor of a props, whatever its name: so at most one of them
// serves.
func At(want messages.Acquire) func(actor.ReceiverContext) messages.Acquire {
	return func(actor.ReceiverContext) messages.Acquire { return want }
}

// Single makes the actors of a props serve messages only while they hold a lock. want says which, for
// each actor; it is called once for each, before Started. Owner of it means nothing, because
// each actor is an owner of its own. Label is the actor's address where it is empty. Modes other than
// messages.Exclusive let as many serve as the lock lets hold.
//
// Name it before other options: middleware that is named before it sees messages that are not served.
// from is a session of the actor's system, or gateways (package gateway). No from, or no want, panics.
func Single(from actors.Provider, want func(actor.ReceiverContext) messages.Acquire,
	opts ...Option) actor.PropsOption {
	if from == nil || want == nil {
		panic("turnstile: activation.Single: the source of locks is nil, or what to acquire is")
	}
	_ = from.NewLock(messages.Acquire{}) // a nil session or nil gateways: it panics
	s := &settings{from: from, want: want, kept: defaultKept}
	for _, opt := range opts {
		opt(s)
	}
	return func(props *actor.Props) {
		props.Configure(
			actor.WithOnInit(func(ctx actor.Context) { ctx.Set(newGuard(s, ctx)) }),
			term.Continues(func(c actor.Context) bool { return guardOf(c).serves() }),
			actor.WithReceiverMiddleware(middleware))
	}
}

func middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
		guardOf(c).receive(c, env, next)
	}
}

// LeaseOf gives the lease of the actor whose context this is; nil for an actor without Single. It is to
// be called while a message is being served.
func LeaseOf(ctx actor.Context) *Lease {
	g := guardOf(ctx)
	if g == nil {
		return nil
	}
	if of := g.campaign.Lease(); g.lease == nil && of != nil {
		g.lease = &Lease{of}
	}
	return g.lease
}
