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
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// node is an actor system with a remote, and the road to it.
type node struct {
	system *actor.ActorSystem
	road   *road
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

// abreast is the number of tests that run at the same time.
func abreast(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String())
	require.NoError(t, err)
	return n
}

// newNode takes a node, healed of the faults of the last test.
func newNode(t *testing.T) *node {
	t.Helper()
	startNodes.Do(func() {
		freeNodes = make(chan *node, nodesOfATest*abreast(t))
		var conns []net.Conn
		for range cap(freeNodes) {
			n := startNode(t)
			freeNodes <- n
			conns = append(conns, n.settled(t))
		}
		for _, conn := range conns { // which ends them, after the last of the loggers was set
			_, err := conn.Write([]byte("this is no preface of HTTP/2, at any rate\n"))
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	})
	n := await(t, freeNodes)
	t.Cleanup(func() {
		n.road.silence(false)
		n.road.cut(false)
		freeNodes <- n
	})
	return n
}

func startNode(t *testing.T) *node {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	n := &node{road: newRoad(t)}
	n.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	host, port, err := net.SplitHostPort(n.road.target)
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	remote.NewRemote(n.system, remote.Configure(host, number, remote.WithAdvertisedHost(n.road.address()),
		gateway.WithRecovery(quiet))).Start()
	return n
}

// settled waits until the node's server has said what it says to each connection.
func (n *node) settled(t *testing.T) net.Conn {
	conn, err := net.Dial("tcp", n.road.target)
	require.NoError(t, err)
	_, err = io.ReadFull(conn, make([]byte, 9))
	require.NoError(t, err)
	return conn
}

// open starts a session of the node's.
func (n *node) open(t *testing.T, server string, timeout time.Duration, opts ...actors.SessionOption) *actors.Session {
	t.Helper()
	cfg, err := zkconn.NewConfig(server, zkconn.WithSessionTimeout(timeout))
	require.NoError(t, err)
	session, err := actors.StartSession(n.system, cfg, opts...)
	require.NoError(t, err)
	require.NoError(t, session.Ready(patient.Deadline(t)))
	relists.Count(t, session)
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
	return actor.NewPID(n.road.address(), name)
}

// client opens a client over gateways.
func (n *node) client(t *testing.T, gateways ...*actor.PID) *locks.Client {
	t.Helper()
	client, err := gateway.Open(patient.Deadline(t), n.system, gateway.At(gateways...))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	return client
}

// stage is a server, a node with a session and a gateway, and a node without.
type stage struct {
	server   *embedded.Server
	ensemble *road // from the gateway's session to the server
	inside   *node
	session  *actors.Session
	pid      *actor.PID // of the gateway, as other nodes know it
	outside  *node
}

// local is the gateway's address on its own node.
func (s *stage) local() *actor.PID { return actor.NewPID(s.inside.system.Address(), s.pid.Id) }

func newStage(t *testing.T, timeout time.Duration, opts ...actors.SessionOption) *stage {
	t.Helper()
	s := &stage{inside: newNode(t), outside: newNode(t)}
	s.inside.connect(t, s.outside)
	s.server = embedded.Run(t, embedded.WithTick(200*time.Millisecond))
	s.ensemble = newRoadTo(t, s.server.Addr())
	s.session = s.inside.open(t, s.ensemble.address(), timeout, opts...)
	s.pid = s.inside.gateway(t, s.session)
	return s
}

// connect has a node's connection to another one stand: remote may lose what is sent before.
func (n *node) connect(t *testing.T, to *node) {
	t.Helper()
	heard := make(chan struct{}, 1)
	pid := to.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, is := ctx.Message().(*messages.Release); is {
			select {
			case heard <- struct{}{}:
			default:
			}
		}
	}))
	defer to.system.Root.Stop(pid)
	for deadline := patient.Deadline(t); ; {
		n.system.Root.Send(actor.NewPID(to.road.address(), pid.Id), wire.Pack(&messages.Release{}))
		select {
		case <-heard:
			return
		case <-time.After(500 * time.Millisecond):
		case <-deadline.Done():
			require.Fail(t, "the nodes do not connect")
		}
	}
}

// direct opens a client with a session of its own.
func (s *stage) direct(t *testing.T) *locks.Client {
	t.Helper()
	client, err := locks.Open(patient.Deadline(t), s.server.Connect(), locks.WithSessionTimeout(patient.Session))
	require.NoError(t, err)
	relists.Count(t, client.Session())
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	return client
}

// await waits until a channel is closed, or gives something.
func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-patient.Deadline(t).Done():
		t.Fatal("it did not come")
		panic("unreachable")
	}
}

// stopped stops an actor, and waits until it has. (protoactor's futures lose replies.)
func stopped(t *testing.T, system *actor.ActorSystem, pid *actor.PID) {
	t.Helper()
	system.Root.Stop(pid)
	limit := time.Now().Add(patient.Bound)
	for there := true; there; time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(limit), "%v does not stop", pid)
		_, there = system.ProcessRegistry.GetLocal(pid.Id)
	}
}
