package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// askAgain is the time after which a query without an answer is sent again, to the next gateway.
const askAgain = 500 * time.Millisecond

// asker sends a query again and again until it is answered. The call that waits for the answer
// stops it.
type asker struct {
	at     *Gateways
	query  *wire.Query
	answer chan *wire.Answer // holds one
	first  int               // the named gateway that is asked first
	tries  int
	looks  bool // the finder is at work
	timer  *time.Timer
}

// Receive takes one message.
func (a *asker) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started, *wake:
		root, self := ctx.ActorSystem().Root, ctx.Self()
		a.send(root, self)
		a.tries++
		a.timer = time.AfterFunc(askAgain, func() { root.Send(self, &wake{}) })
	case *found:
		if a.looks = false; msg.pid != nil {
			ctx.Request(msg.pid, a.query)
		}
	case *wire.Answer:
		if msg.GetId() == a.query.GetId() {
			select {
			case a.answer <- msg:
			default: // answered before
			}
		}
	case *actor.Stopping:
		a.timer.Stop()
	}
}

// anyPath stands for the path of queries: any gateway answers them.
const anyPath = "/"

// send is one try.
func (a *asker) send(root *actor.RootContext, self *actor.PID) {
	if a.at.find == nil {
		root.RequestWithCustomSender(a.at.pids[(a.first+a.tries)%len(a.at.pids)], a.query, self)
		return
	}
	if a.looks {
		return
	}
	a.looks = true
	a.at.find.look(anyPath, a.tries > 0, func(pid *actor.PID) { root.Send(self, &found{pid: pid}) })
}

// ask carries out a query that crosses. It returns the error of ctx when ctx ends before an answer
// comes, or actors.ErrSessionClosed when this side is closed.
func (g *Gateways) ask(ctx context.Context, system *actor.ActorSystem, query *wire.Query) (*wire.Answer, error) {
	a := &asker{at: g, query: query, first: g.begin(), answer: make(chan *wire.Answer, 1)}
	pid := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return a }))
	defer system.Root.Stop(pid)
	select {
	case answer := <-a.answer:
		return answer, nil
	case <-g.over:
		return nil, actors.ErrSessionClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hello waits until a gateway answers, and notes the servers and the chroot of its session.
func (g *Gateways) hello(ctx context.Context, system *actor.ActorSystem) error {
	query := &wire.Query{Version: wire.Version, Id: uuid.NewString(), What: &wire.Query_Hello{Hello: &wire.Hello{}}}
	answer, err := g.ask(ctx, system, query)
	if err != nil {
		return fmt.Errorf("turnstile: no gateway answers: %w", err)
	}
	if why := answer.Refusal(); why.Reason != messages.ReasonNone {
		return fmt.Errorf("turnstile: the gateway refuses: %s: %s", zkconn.Shown(string(why.Reason)), zkconn.Shown(why.Detail))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.servers, g.chroot = answer.GetWelcome().GetServers(), answer.GetWelcome().GetChroot()
	return nil
}
