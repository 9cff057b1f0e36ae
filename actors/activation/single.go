package activation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// defaultKept is how many messages are kept for an actor that waits for its lock.
const defaultKept = 1000

// Option changes how Single works.
type Option func(*settings)

type settings struct {
	from      actors.LockSource
	want      func(actor.ReceiverContext) messages.Acquire
	kept      int
	observers []*actor.PID
}

// WithKept sets how many messages are kept for an actor that waits for its lock; 1000 without it. What
// comes beyond them is refused. Zero, or less, refuses all.
func WithKept(messages int) Option { return func(s *settings) { s.kept = max(0, messages) } }

// WithObserver names actors that get every notice and every messages.Transition of the lock actors.
func WithObserver(pids ...*actor.PID) Option {
	return func(s *settings) { s.observers = append(s.observers, pids...) }
}

// At gives what to acquire for actors of which there is one, whatever they are called.
func At(want messages.Acquire) func(actor.ReceiverContext) messages.Acquire {
	return func(actor.ReceiverContext) messages.Acquire { return want }
}

// Single makes the actors of a props serve messages only while they hold a lock. want says which, for
// each actor; it is called once for each, before Started. Owner and Reentry of it mean nothing, because
// each actor is an owner of its own. Label is the actor's address where it is empty. Modes other than
// messages.Exclusive let as many serve as the lock lets hold.
//
// Name it before other options: middleware that is named before it sees messages that are not served.
// from is a session of the actor's system, or gateways (package gateway). No from, or no want, panics.
func Single(from actors.LockSource, want func(actor.ReceiverContext) messages.Acquire,
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
			actor.WithOnInit(func(ctx actor.Context) { ctx.Set(newGuard(s, ctx.ActorSystem(), ctx.Self())) }),
			actor.WithContextDecorator(decorate),
			actor.WithReceiverMiddleware(middleware))
	}
}

func middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
		guardOf(c).receive(c, env, next)
	}
}
