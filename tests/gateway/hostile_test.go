package gateway

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// raw is a connection to the remote of a gateway's node, without a remote of its own.
type raw struct {
	remote.RemotingClient
	*stage
	stream remote.Remoting_ReceiveClient
}

func newRaw(t *testing.T) *raw {
	t.Helper()
	s := newStage(t, scene.Session)
	s.outside.client(t, s.pid)
	conn, err := grpc.NewClient(s.inside.road.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	r := &raw{RemotingClient: remote.NewRemotingClient(conn), stage: s}
	r.stream, err = r.Receive(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.stream.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectRequest{
		ConnectRequest: &remote.ConnectRequest{ConnectionType: &remote.ConnectRequest_ServerConnection{
			ServerConnection: &remote.ServerConnection{SystemId: "raw", Address: "127.0.0.1:1"}}}}}))
	_, err = r.stream.Recv()
	require.NoError(t, err)
	return r
}

// send sends one message to an actor of the node, from a sender, or nobody.
func (r *raw) send(t *testing.T, to, sender *actor.PID, message proto.Message) {
	t.Helper()
	data, err := proto.Marshal(message)
	require.NoError(t, err)
	batch := &remote.MessageBatch{TypeNames: []string{string(proto.MessageName(message))}, Targets: []*actor.PID{to},
		Envelopes: []*remote.MessageEnvelope{{MessageData: data}}}
	if sender != nil {
		batch.Senders, batch.Envelopes[0].Sender = []*actor.PID{sender}, 1
	}
	require.NoError(t, r.stream.Send(&remote.RemoteMessage{
		MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: batch}}))
}

// hello returns once a gateway has answered a query that was sent behind everything else.
func (r *raw) hello(t *testing.T) {
	t.Helper()
	from, told := r.outside.listener(t)
	r.send(t, r.pid, from, hello)
	require.IsType(t, &wire.Answer{}, scene.Receive(t, told).message)
}

var hello = &wire.Query{Version: wire.Version, Id: "q", What: &wire.Query_Hello{Hello: &wire.Hello{}}}

// TestUnaryCallsAreRefused: protoactor's remote panics on them, which would end the process.
func TestUnaryCallsAreRefused(t *testing.T) {
	r := newRaw(t)
	_, err := r.ListProcesses(t.Context(), &remote.ListProcessesRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
	_, err = r.GetProcessDiagnostics(t.Context(), &remote.GetProcessDiagnosticsRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
	r.hello(t)
}

// TestMadeUpAddresses: each address that a node answers, or passes a message on to, costs it a connection with a queue.
// It answers nodes that are connected to it, and few others, so that memory and goroutines stay bounded.
func TestMadeUpAddresses(t *testing.T) {
	r := newRaw(t)
	r.hello(t)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	for i := range 200 {
		madeUp := func(what int) *actor.PID { return actor.NewPID(fmt.Sprintf("127.9.%d.%d:1", what, i), "nobody") }
		r.send(t, r.pid, madeUp(0), hello)
		r.send(t, actor.NewPID(r.pid.Address, "missing"), madeUp(1), &wire.Query{})
		r.send(t, actor.NewPID(r.pid.Address, "missing"), nil, &actor.Watch{Watcher: madeUp(2)})
		r.send(t, r.pid, nil, &actor.Terminated{Who: madeUp(3)})
		r.send(t, madeUp(4), nil, &wire.Query{})
	}
	r.hello(t)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(32<<20))
	require.Less(t, runtime.NumGoroutine()-goroutines, 1000)
	scene.Eventually(t, func() bool { return runtime.NumGoroutine()-goroutines < 100 }, "attempts to connect end")
}

// TestRawCommands: of the actors of this library only gateways, grains and requesters take messages of other nodes.
// What else another node sends neither stops nor restarts one, nor moves its lock.
func TestRawCommands(t *testing.T) {
	r := newRaw(t)
	root := r.inside.system.Root
	here, notices := r.inside.listener(t)
	lock := root.Spawn(actors.NewLock(r.session, messages.Acquire{Path: "/raw/lock"}, actors.WithObserver(here)))
	notice[*messages.Held](t, notices)
	told := make(chan any, 100)
	single := root.Spawn(actors.NewSingleton(r.session, messages.Acquire{Path: "/raw/single"}, actor.PropsFromFunc(
		func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actors.Activation, *wire.Query, *actor.Stopped:
				told <- ctx.Message()
			}
		})))
	activation := scene.Receive(t, told).(*actors.Activation)
	id := r.session.ID()

	for _, of := range []*actor.PID{r.session.PID(), lock, single, r.pid} {
		to, child := actor.NewPID(r.pid.Address, of.Id), actor.NewPID(r.pid.Address, of.Id+"/$1")
		r.send(t, to, nil, &actor.Watch{})
		r.send(t, to, nil, &actor.Unwatch{})
		r.send(t, to, nil, &actor.Terminated{})
		if of == r.pid { // which may be stopped by another node
			continue
		}
		for _, m := range []proto.Message{&actor.Stop{}, &actor.PoisonPill{}, &actor.Terminated{Who: child},
			&wire.PackedTransport{What: &wire.PackedTransport_Release{Release: &wire.Release{}}}, &wire.Reply{}} {
			r.send(t, to, nil, m)
		}
	}
	r.send(t, actor.NewPID(r.pid.Address, single.Id), nil, &wire.Query{Id: "for the child"})
	r.hello(t)

	query, is := scene.Receive(t, told).(*wire.Query)
	require.True(t, is, "the child of the singleton was stopped")
	require.Equal(t, "for the child", query.GetId())
	require.True(t, activation.Valid())
	require.NoError(t, r.session.Err())
	require.Equal(t, id, r.session.ID())
	other := scene.Open(t, r.server.Addr()) // its queries come behind all that the actors may have done
	for _, path := range []string{"/raw/lock", "/raw/single"} {
		queue := scene.QueueOf(t, other, path)
		require.Len(t, queue, 1, path)
		require.Equal(t, id, queue[0].Session, path)
	}
	require.Empty(t, notices)
}
