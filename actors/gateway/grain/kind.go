package grain

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// KindName is the name of the kind that Kind gives. Identities are lock paths.
const KindName = "turnstile-lock"

// idle is the time without a message after which a grain ends. Requests that were accepted do not
// need it.
const idle = time.Minute

// Kind gives the kind of lock grains over a session of this node, for cluster.WithKinds. A nil session
// panics; one with a session file refuses every request, with the words of gateway.ErrSessionFile.
//
// All grains of it share a gateway, which is spawned with the first of them, with the options.
func Kind(session *actors.Session, opts ...gateway.Option) *cluster.Kind {
	return cluster.NewKind(KindName, props(session, opts...))
}

// props gives the props of the kind's grains.
func props(session *actors.Session, opts ...gateway.Option) *actor.Props {
	gate := gateway.New(session, opts...)
	return actor.PropsFromProducer(func() actor.Actor { return &grain{props: gate} })
}

// grain forwards requests and queries to the gateway of its node.
type grain struct {
	props   *actor.Props
	gateway *actor.PID
}

// Receive takes one message.
func (g *grain) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		g.start(ctx)
	case *wire.Request, *wire.Query:
		ctx.Forward(g.gateway) // with its sender, which gets the answer
	case *actor.Terminated:
		if msg.Who.Equal(g.gateway) { // the next grain has another one
			g.gateway = nil
			ctx.Stop(ctx.Self())
		}
	case *actor.Stopping:
		if g.gateway != nil { // it keeps who watches it, also one that has ended
			ctx.Unwatch(g.gateway)
		}
	case *actor.ReceiveTimeout:
		ctx.Poison(ctx.Self())
	}
}

// start finds the gateway of this node, or spawns it. It is no child of the grain, and outlives it.
func (g *grain) start(ctx actor.Context) {
	pid, err := ctx.ActorSystem().Root.SpawnNamed(g.props, KindName+"-gateway")
	if err != nil && !errors.Is(err, actor.ErrNameExists) {
		panic(err) // the supervisor tries again
	}
	g.gateway = pid
	ctx.Watch(pid)
	ctx.SetReceiveTimeout(idle)
}

// At gives the gateways of a cluster that has started, on any of its nodes: gateway.NewLock and
// gateway.Open take it. A request is sent to the grain of its lock path.
func At(c *cluster.Cluster) *gateway.Gateways {
	return gateway.Find(func(_ context.Context, path string, again bool) *actor.PID {
		if again {
			c.PidCache.Remove(path, KindName)
		}
		if pid, known := c.PidCache.Get(path, KindName); known {
			return pid
		}
		pid := c.Get(path, KindName)
		if pid != nil {
			c.PidCache.Set(path, KindName, pid)
		}
		return pid
	})
}

// Path gives the lock paths of grains, for activation.Single: base, kind and identity, of which the
// last two are escaped as the keys of locks.Keyed are. base is absolute. An actor that is no grain
// panics.
func Path(base string) func(actor.ReceiverContext) messages.Acquire {
	return func(ctx actor.ReceiverContext) messages.Acquire {
		of := cluster.GetClusterIdentity(ctx)
		path := strings.TrimSuffix(base, "/") + "/" + queue.NameOfKey(of.GetKind()) + "/" + queue.NameOfKey(of.GetIdentity())
		return messages.Acquire{Path: path, Label: of.AsKey()}
	}
}
