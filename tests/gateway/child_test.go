package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// childVariable makes the test binary a node in a process of its own: it holds an order.
const childVariable = "TURNSTILE_GATEWAY_CHILD"

// order says what a child is: a gateway where it has Servers, and a requester of one otherwise.
type order struct {
	Listen, Advertised string
	Servers            string
	Timeout            time.Duration
	Gateway, Name      string // its address, and its name there
	Path               string
}

// TestMain makes the binary a child where it was ordered.
func TestMain(m *testing.M) {
	child.Ordered(childVariable, beChild)
	os.Exit(m.Run())
}

// beChild runs a node. A requester says "held" when it holds, and then answers each line that it
// reads with "valid" or "over".
func beChild(o order) error {
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}))
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	remote.NewRemote(system, remote.Configure(host, number, remote.WithAdvertisedHost(o.Advertised))).Start()
	if o.Servers != "" {
		return beGateway(system, o)
	}
	client, err := gateway.Open(context.Background(), system, gateway.At(actor.NewPID(o.Gateway, o.Name)))
	if err != nil {
		return err
	}
	lease, err := client.Mutex(o.Path).Lock(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("held")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lease.Valid() {
			fmt.Println("valid")
		} else {
			fmt.Println("over")
		}
	}
	return nil
}

func beGateway(system *actor.ActorSystem, o order) error {
	cfg, err := zkconn.NewConfig(o.Servers, zkconn.WithSessionTimeout(o.Timeout))
	if err != nil {
		return err
	}
	session, err := actors.StartSession(system, cfg)
	if err != nil {
		return err
	}
	if err := session.Ready(context.Background()); err != nil {
		return err
	}
	if _, err := gateway.Spawn(system, session, "locks"); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// process is a child, with what it says.
type process struct {
	*child.Talker
	road *road
}

// start runs a child behind a road of its own.
func start(t *testing.T, o order) *process {
	t.Helper()
	p := &process{road: newRoad(t)}
	o.Listen, o.Advertised = p.road.target, p.road.address()
	cmd, err := child.Again(childVariable, o)
	require.NoError(t, err)
	cmd.Stderr = relists.Child(t, os.Stderr)
	p.Talker, err = child.Talk(cmd)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.Resume()
		_ = p.Kill()
		<-p.Exited()
	})
	return p
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
			s := newStage(t, patient.Session)
			gate := start(t, order{Servers: s.server.Connect(), Timeout: short})
			require.Equal(t, "ready", await(t, gate.Says))
			client, other := s.outside.client(t, actor.NewPID(gate.road.address(), "locks")), s.direct(t)
			ctx := patient.Deadline(t)
			lease, err := client.Mutex("/stops").Lock(ctx)
			require.NoError(t, err)
			next := elsewhere(ctx, other.Mutex("/stops"))
			waits(t, other, lease)
			require.NoError(t, strike(gate))
			taken := await(t, next)
			valid := lease.Valid()
			require.NoError(t, taken.err)
			require.False(t, valid, "two valid leases")
			await(t, lease.Context().Done())
			_ = gate.Resume() // unless it was killed
			patient.GiveBack(t, taken.lease)
			patient.Eventually(t, func() bool { return contenders(t, other, "/stops") == 0 }, "no node is left")
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
			s := newStage(t, patient.Session/2) // longer than it takes until the process is stopped
			holder := start(t, order{Gateway: s.pid.Address, Name: s.pid.Id, Path: "/holder"})
			require.Equal(t, "held", await(t, holder.Says))
			require.NoError(t, holder.Tell("?"))
			require.Equal(t, "valid", await(t, holder.Says))
			other := s.direct(t)
			ctx := patient.Deadline(t)
			next := elsewhere(ctx, other.Mutex("/holder"))
			patient.Eventually(t, func() bool { return contenders(t, other, "/holder") == 2 }, "the other waits")
			if kill {
				require.NoError(t, holder.Kill())
			} else {
				require.NoError(t, holder.Pause())
			}
			taken := await(t, next)
			require.NoError(t, taken.err)
			if !kill {
				holder.road.cut(true) // so that nobody tells it
				require.NoError(t, holder.Tell("?"))
				require.NoError(t, holder.Resume())
				require.Equal(t, "over", await(t, holder.Says))
			}
			patient.GiveBack(t, taken.lease)
			patient.Eventually(t, func() bool { return contenders(t, other, "/holder") == 0 }, "no node is left")
		})
	}
}

// TestBothStop: the gateway and the requester are stopped, and go on in either order.
func TestBothStop(t *testing.T) {
	t.Parallel()
	s := newStage(t, patient.Session)
	gate := start(t, order{Servers: s.server.Connect(), Timeout: short})
	require.Equal(t, "ready", await(t, gate.Says))
	holder := start(t, order{Gateway: gate.road.address(), Name: "locks", Path: "/both"})
	require.Equal(t, "held", await(t, holder.Says))
	other := s.direct(t)
	ctx := patient.Deadline(t)
	require.NoError(t, gate.Pause())
	require.NoError(t, holder.Pause())
	lease, err := other.Mutex("/both").Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, holder.Tell("?"))
	require.NoError(t, holder.Resume())
	require.Equal(t, "over", await(t, holder.Says))
	require.NoError(t, gate.Resume())
	require.True(t, lease.Valid())
	patient.GiveBack(t, lease)
	patient.Eventually(t, func() bool { return contenders(t, other, "/both") == 0 }, "no node is left")
}
