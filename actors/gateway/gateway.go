package gateway

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/ctxext"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/zkconn/told"
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
type Option func(*relay.Limits)

// WithMaxRequests bounds the requests that a gateway has at a time; without it they are 100 000. A
// request above the bound goes to the next gateway that its requester names. When each is full it
// ends as messages.Failed with messages.ReasonGatewayFull; package locks gives an error for which
// MayPass is true. Requests that the gateway already has are not touched.
//
// A request takes 5 to 11 kB of the gateway's memory (10 000 of them, on one lock and on 1 000: go -C
// tests/bench run . -workload gateway). A gateway of no requests, or fewer, refuses all.
func WithMaxRequests(n int) Option {
	return func(l *relay.Limits) { l.Requests, l.Ended = n, max(l.Ended, 4*n) }
}

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
	limits := relay.Usual()
	for _, opt := range opts {
		opt(&limits)
	}
	return actor.PropsFromProducer(func() actor.Actor { return newGateway(session, limits) }, mortal(),
		actor.WithMailbox(mailbox.Named))
}

// WithRecovery keeps a message of a type that this node does not link from ending the process:
// protoactor's remote panics on it, in a goroutine of gRPC. With it, the connection that brought
// the message ends instead, and is made anew with the next message. Its messages that had not been
// read are lost.
func WithRecovery(log *slog.Logger) remote.ConfigOption {
	log = told.NewLog().Logger(log)
	recovers := func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
		handle grpc.StreamHandler) (err error) {
		defer func() {
			if r := recover(); r != nil {
				log.LogAttrs(context.Background(), slog.LevelError, "a message of another node could not be read",
					slog.Any("panic", r))
				err = status.Errorf(codes.InvalidArgument, "turnstile: the message could not be read: %v", r)
			}
		}()
		return handle(srv, stream)
	}
	return func(c *remote.Config) {
		c.ServerOptions = append(c.ServerOptions, grpc.ChainStreamInterceptor(recovers))
	}
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
