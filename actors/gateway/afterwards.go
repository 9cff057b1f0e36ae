package gateway

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/extensions"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
)

// afterwards has an actor system answer the replies of gateways that come for requesters which have ended: see
// relay.Afterwards. Such a reply finds no actor, so nothing has to be remembered of requests that are over. There is one
// in each system, for as long as that lives.
type afterwards struct{}

var (
	afterwardsID = extensions.NextExtensionID()
	registering  sync.Mutex
)

func (afterwards) ExtensionID() extensions.ExtensionID { return afterwardsID }

// answerAfterwards has a system do so, unless it does.
func answerAfterwards(system *actor.ActorSystem) {
	registering.Lock()
	defer registering.Unlock()
	if system.Extensions.Get(afterwardsID) != nil {
		return
	}
	system.Extensions.Register(afterwards{})
	system.EventStream.Subscribe(func(event any) {
		missed, _ := event.(*actor.DeadLetterEvent)
		if missed == nil || missed.Sender == nil {
			return
		}
		reply, _ := missed.Message.(*wire.Reply)
		if reply == nil {
			return
		}
		p, wrong := readReply(reply)
		if wrong != "" { // what it says of the request does not matter any more
			p = relay.Reply{ID: reply.GetId(), Gateway: reply.GetGateway(), Number: reply.GetNumber()}
		}
		for _, o := range relay.Afterwards(p) {
			system.Root.RequestWithCustomSender(missed.Sender, writeRequest(o.(relay.Dismiss).Request), missed.PID)
		}
	})
}
