package gateway

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/ctxext"
	"github.com/asynkron/protoactor-go/remote"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
)

// KindName is the name of the kind that Kind gives.
const KindName = "turnstile-gateway"

// Kind gives the kind of a gateway over a session, for remote.WithKinds: other nodes spawn gateways
// of it by name. A gateway that is spawned so is a child of protoactor's activator, and lives until
// it is stopped.
func Kind(session *actors.Session, opts ...Option) *remote.Kind {
	return remote.NewKind(KindName, New(session, opts...))
}

// Option changes how a gateway works.
type Option func(*options)

type options struct {
	limits relay.Limits
	cohort int
}

// WithMaxRequests bounds the requests that a gateway has at a time; without it they are 100 000. A
// request above the bound goes to the next gateway that its requester names. When each is full it
// ends as messages.Failed with messages.ReasonGatewayFull; package locks gives an error for which
// MayPass is true. Requests that the gateway already has are not touched.
//
// A request takes 5 to 11 kB of the gateway's memory (10 000 of them, on one lock and on 1 000: go -C
// tests/bench run . -workload gateway). A gateway of no requests, or fewer, refuses all.
func WithMaxRequests(n int) Option {
	return func(o *options) { o.limits.Requests, o.limits.Ended = n, max(o.limits.Ended, 4*n) }
}

// WithCohort has requests for one lock share a hold: the gateway gives it to up to n of them, one after
// the other, before the next contender of the queue has its turn. See locks.WithCohort. A request gets
// the hold when the one before has given it back, or all that it was promised has run out. Requests share
// that differ in no more than owner, caller and Try. Those for reading hold together.
//
// Writers, permits, contests, and requests with a field of messages.Acquire that says so have a hold
// each. So have all requests without this option, or with an n below 2.
//
// Of a request that waits inside the gateway no predecessor is told.
func WithCohort(n int) Option { return func(o *options) { o.cohort = n } }

// Spawn spawns a gateway over a session, with a name by which other nodes know it:
// actor.NewPID(address, name). The system's remote must have been started, or else the address of
// its actors is not known. The error wraps ErrSessionFile, or is the error of the spawn, as for a
// name that is taken.
func Spawn(system *actor.ActorSystem, session *actors.Session, name string, opts ...Option) (*actor.PID, error) {
	if session != nil && session.HasFile() {
		return nil, fmt.Errorf("turnstile: spawning gateway %q: %w", name, ErrSessionFile)
	}
	pid, err := system.Root.SpawnNamed(New(session, opts...), name)
	if err != nil {
		return nil, fmt.Errorf("turnstile: spawning gateway %q: %w", name, err)
	}
	return pid, nil
}

// New gives the props of a gateway over a session of the same actor system. A nil session panics. A
// gateway over a session with a session file refuses every request, with the words of
// ErrSessionFile.
//
// It may be stopped at any time; its promises are kept until they have run out. Session.Close waits
// for that. It stops by itself when its session has ended for good.
func New(session *actors.Session, opts ...Option) *actor.Props {
	if session == nil {
		panic("turnstile: gateway.New: the session is nil")
	}
	with := options{limits: relay.Usual()}
	for _, opt := range opts {
		opt(&with)
	}
	return actor.PropsFromProducer(func() actor.Actor { return newGateway(session, with) }, mortal(),
		actor.WithMailbox(mailbox.Named))
}

// life is whether an actor has stopped, in all its incarnations. It belongs to the actor's goroutine.
type life struct{ over bool }

var lifeID = ctxext.NextContextExtensionID()

// ExtensionID names the life among the extensions of an actor's context.
func (*life) ExtensionID() ctxext.ContextExtensionID { return lifeID }

// mortal keeps an actor that has stopped from being served again. A supervisor may have decided to restart
// it before it stopped: then protoactor makes a new incarnation of it, which nobody can reach or stop.
func mortal() actor.PropsOption {
	return func(props *actor.Props) {
		props.Configure(
			actor.WithOnInit(func(ctx actor.Context) { ctx.Set(&life{}) }),
			actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					lived, _ := c.Get(lifeID).(*life)
					if lived.over {
						return
					}
					if _, stopped := env.Message.(*actor.Stopped); stopped {
						lived.over = true
					}
					next(c, env)
				}
			}))
	}
}
