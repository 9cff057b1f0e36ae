package gateway

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
)

// weather loses, doubles and delays what crosses to and from gateways, by a seed: middleware for
// their props.
type weather struct {
	system *actor.ActorSystem

	mu     sync.Mutex
	random *rand.Rand
	bad    bool
}

// late is a message that the weather has let pass.
type late struct{ envelope *actor.MessageEnvelope }

// props puts a gateway into the weather.
func (w *weather) props(props *actor.Props) *actor.Props {
	return props.Configure(
		actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
			return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
				switch msg := env.Message.(type) {
				case *wire.Request:
					self := c.Self()
					w.pass(func() { w.system.Root.Send(self, &late{env}) })
				case *late:
					next(c, msg.envelope)
				default:
					next(c, env)
				}
			}
		}),
		actor.WithSenderMiddleware(func(next actor.SenderFunc) actor.SenderFunc {
			return func(c actor.SenderContext, to *actor.PID, env *actor.MessageEnvelope) {
				if _, reply := env.Message.(*wire.Reply); !reply {
					next(c, to, env)
					return
				}
				w.pass(func() { w.system.Root.RequestWithCustomSender(to, env.Message, env.Sender) })
			}
		}))
}

// pass delivers a message: at once, later, twice, or never.
func (w *weather) pass(deliver func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delay, copies := time.Duration(w.random.Int64N(int64(5*time.Millisecond))), 1
	if w.bad {
		switch w.random.IntN(10) {
		case 0, 1:
			copies = 0
		case 2:
			copies = 2
		case 3:
			delay = time.Duration(w.random.Int64N(int64(15 * time.Second)))
		}
	}
	for range copies {
		time.AfterFunc(delay, deliver)
		delay += time.Duration(w.random.Int64N(int64(10 * time.Second)))
	}
}

func (w *weather) turn(bad bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = bad
}

// pick gives a number below n.
func (w *weather) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}
