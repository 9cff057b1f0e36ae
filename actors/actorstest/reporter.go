package actorstest

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/audience"
)

// Reporter reports for a lock actor of a test's own, to those whom its options name: a fake
// actors.Provider makes one from the options of NewLock. Only the fake's actor uses it, from its
// Receive.
//
//	func (f *fake) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
//		reporter := actorstest.NewReporter(opts)
//		return actor.PropsFromFunc(func(ctx actor.Context) {
//			switch msg := ctx.Message().(type) {
//			case *actor.Started:
//				reporter.Tell(ctx, &messages.Failed{Grant: messages.Grant{Path: want.Path}, Reason: messages.ReasonNoAuth})
//				ctx.Stop(ctx.Self())
//			case *actor.Stopped:
//				reporter.Stopped(ctx, msg)
//			}
//		})
//	}
type Reporter struct{ audience audience.Audience }

// NewReporter reads lock options: actors.LockOption is such a function. All actors that they name must be in the actor's system:
// actors.WithRemote has no effect.
func NewReporter[Option ~func(*audience.Audience)](opts []Option) *Reporter {
	return &Reporter{audience.Local(opts)}
}

// Begin watches the owner, whose end the actor is told by *actor.Terminated. The error wraps
// actors.ErrBadAcquire where the parent, the owner or an observer is on another node.
func (r *Reporter) Begin(ctx actor.Context) error { return r.audience.Begin(ctx) }

// Tell sends a notice to the parent, to the observers and to the listener.
func (r *Reporter) Tell(ctx actor.Context, notice any) { r.audience.Tell(ctx, notice) }

// Stopped tells the listener that the actor has stopped: the last that it hears.
func (r *Reporter) Stopped(ctx actor.Context, msg *actor.Stopped) { r.audience.Stopped(ctx, msg) }
