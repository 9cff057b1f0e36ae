package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/rpc"
	"os"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
)

// orderVariable makes this program a node: it holds an order.
const orderVariable = "TURNSTILE_CLUSTER_NODE"

// order says what a node is. One with Servers has a session, and is a gateway; another one asks
// Gateways.
type order struct {
	Name               string
	Listen, Advertised string // where it listens, and what others dial
	Uplink             string // by which it reaches others
	Witness            string
	Servers            string
	Gateways           []string
}

// gatewayName is the name by which other nodes know a gateway.
const gatewayName = "locks"

// beNode runs a node until its standard input ends.
func beNode(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", o.Witness)
	if err != nil {
		return err
	}
	witness := rpc.NewClient(conn)
	defer witness.Close()
	ctx, stop := context.WithCancel(context.Background())
	go func() { // it ends with the process that started it, too
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	system, err := startRemote(o)
	if err != nil {
		return err
	}
	defer system.Shutdown()
	client, from, by, err := open(ctx, system, o)
	if err != nil {
		return err
	}
	h := &holder{witness: witness, node: o.Name}
	singleton := campaign(system, from, h, by)
	if err := witness.Call("Witness.Ready", o.Name, &struct{}{}); err != nil {
		return err
	}
	err = h.workers(ctx, 2, client, by)
	<-ctx.Done()
	singleton()
	last, done := context.WithTimeout(context.Background(), 20*time.Second)
	defer done()
	return errors.Join(err, client.Close(last))
}

// startRemote starts protoactor's remote. It reaches other nodes by the uplink only.
func startRemote(o order) (*actor.ActorSystem, error) {
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	dial := func(ctx context.Context, target string) (net.Conn, error) {
		var dialer net.Dialer
		return dialUplink(func(address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}, o.Uplink, target)
	}
	remote.NewRemote(system, remote.Configure(host, number, remote.WithAdvertisedHost(o.Advertised),
		remote.WithDialOptions(grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial)),
		gateway.WithRecovery(quiet))).Start()
	return system, nil
}

// open gives the client of a node: over its own session, which others may use then, or over gateways.
func open(ctx context.Context, system *actor.ActorSystem, o order) (
	client *locks.Client, from actors.Provider, by string, err error) {
	opening, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if o.Servers != "" {
		client, err = locks.Open(opening, o.Servers, locks.WithActorSystem(system), locks.WithSessionTimeout(timeout))
		if err != nil {
			return nil, nil, "", err
		}
		_, err = gateway.Spawn(system, client.Session(), gatewayName)
		return client, client.Session(), "its session", err
	}
	at := func() *gateway.Gateways {
		var pids []*actor.PID
		for _, address := range o.Gateways {
			pids = append(pids, actor.NewPID(address, gatewayName))
		}
		return gateway.At(pids...)
	}
	client, err = gateway.Open(opening, system, at())
	return client, at(), "a gateway", err
}
