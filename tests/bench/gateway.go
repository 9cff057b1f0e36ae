package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// gatewayNodes is on how many nodes the requesters are: each is a process with an actor system and a remote.
	gatewayNodes = 10
	// gatewayPaths is the number of lock paths where the workload has many.
	gatewayPaths = 1000
	// mostSessions bounds the sessions that are opened in the place of requesters.
	mostSessions = 1000
)

// gatewayUse is requesters without a session on ten nodes, over one gateway; and for comparison workers on as many
// nodes that have a session each. They are on one lock, and then on many.
var gatewayUse = workload{
	name: "gateway", per: "requesters on ten nodes, one gateway", sizes: []int{10_000}, quick: []int{20}, named: true,
	metrics: []metric{{"rate", "grants/s", more}, {"packets", "packets/grant", neither}, {"memory", "B/requester", neither},
		{"many", "grants/s", more}, {"many-packets", "packets/grant", neither}, {"many-memory", "B/requester", neither}},
	peers: []peer{byNodes(oursByGateway, 0), byNodes(oursByGatewayInCohorts, cohortGrants), byNodes(oursSessions, 0)},
}

// byNodes measures requesters over a gateway, in cohorts of so many grants, or workers with sessions.
func byNodes(name string, cohort int) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) {
		spec := childSpec{Peer: name, Cohort: cohort, Sessions: 1}
		if name == oursSessions {
			t.n, spec.Sessions = min(t.n, mostSessions), 2
		}
		found := figures{}
		for form, paths := range map[string]int{"": 1, "many": max(2, min(gatewayPaths, t.n/10))} {
			of := t
			of.path += "/" + form + "locks"
			if err := t.stage.monitor.makePath(of.path); err != nil {
				return nil, err
			}
			if _, err := of.makeOwn(paths); err != nil {
				return nil, err
			}
			got, err := of.byNodes(ctx, paths, spec)
			if err != nil {
				return nil, fmt.Errorf("%s%d paths: %w", form, paths, err)
			}
			if form == "" {
				maps.Copy(found, got)
				continue
			}
			found[form], found[form+"-packets"], found[form+"-memory"] = got["rate"], got["packets"], got["memory"]
		}
		return found, nil
	}}
}

// byNodes measures one form. Where there is a gateway it has the memory.
func (t trial) byNodes(ctx context.Context, paths int, spec childSpec) (figures, error) {
	r := race{trial: t, processes: min(gatewayNodes, t.n), workers: t.n, paths: paths}
	if spec.Peer == oursSessions {
		return r.children(ctx, spec)
	}
	gate, err := startChild(childSpec{Task: taskGateway, Peer: ours, Connect: t.stage.connect(0), Timeout: timeout, Sessions: 1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = gate.kill() }()
	if err := gate.expect(ctx, &spec.Gateway); err != nil {
		return nil, err
	}
	r.after = func(found figures) error {
		var grown int
		err := errors.Join(gate.goOn(), gate.expect(ctx, &grown))
		found["memory"] = float64(grown) / float64(t.n)
		return err
	}
	found, err := r.children(ctx, spec)
	if err != nil {
		return nil, err
	}
	return found, errors.Join(gate.goOn(), gate.end(ctx))
}

// farewell is for how long a node that ends goes on sending what it has to say: nothing tells when it is sent.
const farewell = 200 * time.Millisecond

// gatewayName is the gateway's name on its node.
const gatewayName = "locks"

// queued is the number of messages to one node that have room at first. By default there is room
// for a million, 16 MB for each node.
const queued = 1000

// newNode makes an actor system with a remote on a port of its own.
func newNode() *actor.ActorSystem {
	system := newSystem()
	remote.NewRemote(system, remote.Configure("127.0.0.1", 0, remote.WithEndpointWriterQueueSize(queued))).Start()
	return system
}

// newSystem makes an actor system that logs nothing.
func newSystem() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
}

// beGateway is the process of the gateway. It says its address, and by how much it has grown when it is used.
func beGateway(ctx context.Context, spec childSpec, to *parent) error {
	system := newNode()
	s, err := openTurnstileWith(append(unbounded, locks.WithActorSystem(system)))(ctx, spec.Connect, spec.Timeout)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := gateway.Spawn(system, s.(*turnstileSession).client.Session(), gatewayName); err != nil {
		return err
	}
	before := occupation()
	if err := errors.Join(to.tell(system.Address()), to.await()); err != nil {
		return err
	}
	return errors.Join(to.tell(occupation().since(before)), to.await())
}

// overGateway is the session of a node that has none.
func (s childSpec) overGateway(ctx context.Context, how []locks.LockOption) ([]session, func(), error) {
	client, err := gateway.Open(ctx, newNode(), gateway.At(actor.NewPID(s.Gateway, gatewayName)))
	if err != nil {
		return nil, func() {}, err
	}
	one := &turnstileSession{client, how}
	return []session{one}, func() { one.close(); rig.Rest(ctx, farewell) }, nil
}
