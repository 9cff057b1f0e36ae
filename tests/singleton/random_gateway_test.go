package singleton

import (
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
)

// overGateways gives some nodes locks of gateways instead of their own session's. Each session has a gateway.
func (w *world) overGateways(random *rand.Rand) {
	for _, n := range w.nodes {
		n.openGateway(n.session)
		if random.IntN(3) == 0 {
			continue
		}
		var pids []*actor.PID
		for _, i := range random.Perm(len(w.nodes))[:1+random.IntN(len(w.nodes))] {
			pids = append(pids, w.nodes[i].gateway())
		}
		n.from = gateway.At(pids...)
	}
}

// gateway is the address of the gateway over the node's session.
func (n *node) gateway() *actor.PID { return actor.NewPID(n.w.system.Address(), "gateway-"+n.name) }

// openGateway spawns it, over a session, once the one before has ended.
func (n *node) openGateway(session *actors.Session) {
	if n.w.t.Context().Err() != nil {
		return
	}
	if _, err := n.w.system.Root.SpawnNamed(gateway.New(session), n.gateway().Id); err != nil {
		time.AfterFunc(time.Second, func() { n.openGateway(session) })
	}
}
