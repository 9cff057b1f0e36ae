package gateway

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// node is an actor system with a remote, and the road to it.
type node struct {
	system *actor.ActorSystem
	road   *road
}

// startRemote starts the remote of a system, which listens at one address and is dialed at another.
func startRemote(system *actor.ActorSystem, listen, advertised string, opts ...remote.ConfigOption) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	remote.NewRemote(system, remote.Configure(host, number, append(opts, remote.WithAdvertisedHost(advertised))...)).Start()
	return nil
}

var quiet = slog.New(slog.DiscardHandler)

func newSystem() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
}

// The nodes of this process are started once, before gRPC does anything for any of them:
// remote.Start sets gRPC's logger, which gRPC reads without a lock. Tests take nodes from here, and
// put them back. There are as many as all that run at the same time may take, lest each waits for
// one that another has.
var (
	startNodes sync.Once
	freeNodes  chan *node
)

// nodesOfATest bounds the nodes that a test takes.
const nodesOfATest = 3

// newNode takes a node, healed of the faults of the last test.
func newNode(t *testing.T) *node {
	t.Helper()
	startNodes.Do(func() {
		abreast, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String())
		require.NoError(t, err)
		freeNodes = make(chan *node, nodesOfATest*abreast)
		var conns []net.Conn
		for range cap(freeNodes) {
			n := &node{newSystem(), newRoad(t, "")}
			require.NoError(t, startRemote(n.system, n.road.target, n.road.address, gateway.WithRecovery(quiet)))
			freeNodes <- n
			conn, err := net.Dial("tcp", n.road.target)
			require.NoError(t, err)
			_, err = io.ReadFull(conn, make([]byte, 9)) // what a server says to each connection
			require.NoError(t, err)
			conns = append(conns, conn)
		}
		for _, conn := range conns { // which ends them, after the last of the loggers was set
			_, err := conn.Write([]byte("this is no preface of HTTP/2, at any rate\n"))
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	})
	n := scene.Receive(t, freeNodes)
	t.Cleanup(func() {
		n.road.be(scene.Up)
		freeNodes <- n
	})
	return n
}

// open starts a session of the node's.
func (n *node) open(t *testing.T, server string, timeout time.Duration, opts ...actors.SessionOption) *actors.Session {
	t.Helper()
	cfg, err := zkconn.NewConfig(server, zkconn.WithSessionTimeout(timeout))
	require.NoError(t, err)
	session, err := actors.StartSession(n.system, cfg, opts...)
	require.NoError(t, err)
	require.NoError(t, session.Ready(scene.Deadline(t)))
	scene.CountRelists(t, session)
	t.Cleanup(func() { _ = session.Close(context.WithoutCancel(t.Context())) })
	return session
}

// gateways counts them, because a node has many in its time.
var gateways atomic.Int64

// gateway spawns a gateway with a name that others know.
func (n *node) gateway(t *testing.T, session *actors.Session) *actor.PID {
	t.Helper()
	name := fmt.Sprint("locks-", gateways.Add(1))
	pid, err := gateway.Spawn(n.system, session, name)
	require.NoError(t, err)
	t.Cleanup(func() { n.system.Root.Stop(pid) })
	return actor.NewPID(n.road.address, name)
}

// client opens a client over a gateway.
func (n *node) client(t *testing.T, at *actor.PID) *locks.Client {
	t.Helper()
	client, err := gateway.Open(scene.Deadline(t), n.system, gateway.At(at))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	return client
}

// stage is a server, a node with a session and a gateway, and a node without.
type stage struct {
	server  *embedded.Server
	inside  *node
	session *actors.Session
	pid     *actor.PID // of the gateway, as other nodes know it
	outside *node
}

func newStage(t *testing.T, timeout time.Duration, opts ...actors.SessionOption) *stage {
	t.Helper()
	s := &stage{inside: newNode(t), outside: newNode(t)}
	s.inside.connect(t, s.outside)
	s.server = embedded.Run(t, embedded.WithTick(200*time.Millisecond), embedded.WithSessionTimeouts(200*time.Millisecond, forever))
	s.session = s.inside.open(t, s.server.Addr(), timeout, opts...)
	s.pid = s.inside.gateway(t, s.session)
	return s
}

// forever is a session timeout whose end no test waits for.
const forever = 10 * time.Minute

// connect has a node's connection to another one stand: remote may lose what is sent before.
func (n *node) connect(t *testing.T, to *node) {
	t.Helper()
	pid, told := to.listener(t)
	for deadline := scene.Deadline(t); ; {
		n.system.Root.Send(pid, wire.Pack(&messages.Release{}))
		select {
		case <-told:
			return
		case <-time.After(500 * time.Millisecond):
		case <-deadline.Done():
			require.Fail(t, "the nodes do not connect")
		}
	}
}

// heard is a message with its sender.
type heard struct {
	message any
	sender  *actor.PID
}

// listen spawns an actor that passes on what it is told.
func listen(t *testing.T, system *actor.ActorSystem) (*actor.PID, <-chan heard) {
	t.Helper()
	told := make(chan heard, 100)
	pid := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage, *wire.Packed:
		default:
			told <- heard{msg, ctx.Sender()}
		}
	}))
	t.Cleanup(func() { system.Root.Stop(pid) })
	return pid, told
}

// listener is a listener with its address as other nodes know it.
func (n *node) listener(t *testing.T) (*actor.PID, <-chan heard) {
	t.Helper()
	pid, told := listen(t, n.system)
	return actor.NewPID(n.road.address, pid.Id), told
}

// notice waits for the next notice, and passes transitions over.
func notice[Notice any](t *testing.T, from <-chan heard) (Notice, *actor.PID) {
	t.Helper()
	for {
		h := scene.Receive(t, from)
		if _, is := h.message.(*messages.Transition); is {
			continue
		}
		got, is := h.message.(Notice)
		require.True(t, is, "%T: %+v", h.message, h.message)
		return got, h.sender
	}
}

// queued waits until a lock has so many contenders.
func queued(t *testing.T, client *locks.Client, path string, n int) {
	t.Helper()
	scene.Eventually(t, func() bool { return len(scene.QueueOf(t, client, path)) == n }, "%s has %d contenders", path, n)
}

// stopped stops an actor, and waits until it has. (protoactor's futures lose replies.)
func stopped(t *testing.T, system *actor.ActorSystem, pid *actor.PID) {
	t.Helper()
	system.Root.Stop(pid)
	ended(t, system, pid)
}

func ended(t *testing.T, system *actor.ActorSystem, pid *actor.PID) {
	t.Helper()
	scene.Eventually(t, func() bool {
		_, there := system.ProcessRegistry.GetLocal(pid.Id)
		return !there
	}, "%v ends", pid)
}
