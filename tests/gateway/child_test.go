package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// childVariable makes the test binary a node in a process of its own: it holds an order.
const childVariable = "TURNSTILE_GATEWAY_CHILD"

// order says what a child is: a gateway where it has Servers, and a requester of one otherwise.
type order struct {
	Listen, Advertised string
	Servers            string
	Gateway, Name      string // its address, and its name there
}

// TestMain makes the binary a child where it was ordered.
func TestMain(m *testing.M) {
	rig.Ordered(childVariable, beChild)
	os.Exit(m.Run())
}

// beChild runs a node. A gateway says "ready". A requester says "held" when it holds, and then answers each line that
// it reads with "valid" or "over".
func beChild(o order) error {
	system, ctx := newSystem(), context.Background()
	if err := startRemote(system, o.Listen, o.Advertised); err != nil {
		return err
	}
	if o.Servers != "" {
		cfg, err := zkconn.NewConfig(o.Servers, zkconn.WithSessionTimeout(short))
		if err != nil {
			return err
		}
		session, err := actors.StartSession(system, cfg)
		if err != nil {
			return err
		}
		if err := session.Ready(ctx); err != nil {
			return err
		}
		if _, err := gateway.Spawn(system, session, "locks"); err != nil {
			return err
		}
		fmt.Println("ready")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	client, err := gateway.Open(ctx, system, gateway.At(actor.NewPID(o.Gateway, o.Name)))
	if err != nil {
		return err
	}
	lease, err := client.Mutex("/held").Lock(ctx)
	if err != nil {
		return err
	}
	fmt.Println("held")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(map[bool]string{true: "valid", false: "over"}[lease.Valid()])
	}
	return nil
}

// process is a child, with what it says.
type process struct {
	*rig.Talker
	road *road
}

// start runs a child behind a road of its own, until it is a gateway, or holds.
func start(t *testing.T, o order, says string) *process {
	t.Helper()
	p := &process{road: newRoad(t, "")}
	o.Listen, o.Advertised = p.road.target, p.road.address
	cmd, err := rig.Again(childVariable, o)
	require.NoError(t, err)
	cmd.Stderr = scene.ErrorOutput(t, os.Stderr)
	p.Talker, err = rig.Talk(cmd)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.Resume()
		_ = p.Kill()
		<-p.Exited()
	})
	require.Equal(t, says, scene.Receive(t, p.Says))
	return p
}

// requireLease asks a requester whether its lease is valid.
func (p *process) requireLease(t *testing.T, is string) {
	t.Helper()
	require.NoError(t, p.Tell("?"))
	_ = p.Resume()
	require.Equal(t, is, scene.Receive(t, p.Says))
}

// TestGatewayStops: the process of the gateway is stopped, or killed, under a holder.
func TestGatewayStops(t *testing.T) {
	t.Parallel()
	for name, strike := range map[string]func(*process) error{
		"SIGSTOP": func(p *process) error { return p.Pause() },
		"SIGKILL": func(p *process) error { return p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scene.Session)
			gate := start(t, order{Servers: s.server.Addr()}, "ready")
			client := s.outside.client(t, actor.NewPID(gate.road.address, "locks"))
			taken(t, client, scene.Open(t, s.server.Addr()), func(*locks.Lease) func() {
				require.NoError(t, strike(gate))
				if gate.Running() {
					return func() { require.NoError(t, gate.Resume()) }
				}
				return nil
			})
		})
	}
}

// TestRequesterStops: the process of the requester is stopped, or killed, while it holds. When it
// goes on it knows that its lease is over before it has heard anything.
func TestRequesterStops(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"SIGSTOP": false, "SIGKILL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scene.Session/2) // longer than it takes until the process is stopped
			holder := start(t, order{Gateway: s.pid.Address, Name: s.pid.Id}, "held")
			holder.requireLease(t, "valid")
			other := scene.Open(t, s.server.Addr())
			next := scene.Elsewhere(scene.Deadline(t), other.Mutex("/held").Lock)
			queued(t, other, "/held", 2)
			if kill {
				require.NoError(t, holder.Kill())
			} else {
				require.NoError(t, holder.Pause())
			}
			got := scene.Receive(t, next)
			require.NoError(t, got.Err)
			if !kill {
				holder.road.be(scene.Down) // so that nobody tells it
				holder.requireLease(t, "over")
			}
			scene.GiveBack(t, got.Lease)
			queued(t, other, "/held", 0)
		})
	}
}

// TestBothStop: the gateway and the requester are stopped, and the requester goes on first.
func TestBothStop(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene.Session)
	gate := start(t, order{Servers: s.server.Addr()}, "ready")
	holder := start(t, order{Gateway: gate.road.address, Name: "locks"}, "held")
	other := scene.Open(t, s.server.Addr())
	require.NoError(t, gate.Pause())
	require.NoError(t, holder.Pause())
	lease := scene.LockAt(t, other, "/held")
	holder.requireLease(t, "over")
	require.NoError(t, gate.Resume())
	scene.GiveBack(t, lease)
	queued(t, other, "/held", 0)
}
