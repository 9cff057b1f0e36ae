package gateway

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// WithRecovery keeps a node up whatever reaches its remote. Name it last: remote.WithServerOptions
// replaces the options before it.
//
//   - A message of a type that this node does not link, on which protoactor's remote panics, ends the
//     connection that brought it. The next message makes it anew. Unread ones are lost.
//   - Unary calls, on which it panics too, are refused.
//   - The node answers nodes that are connected to it, and 64 others a minute. It passes nothing on to
//     other nodes. It is connected to 16 384 nodes at most.
//   - Memory: protoactor makes room for a million messages to each node, and leaves connections behind
//     that could not be made. The room is for 1 000 and grows, and a connection is tried once.
//   - Of this library's actors gateways, grains, requesters, and lock actors WithRemote act on messages
//     of other nodes. A singleton passes them on to its actor, and nobody there can stop it.
//
// Messages that are refused are dropped, and logged once for each connection.
func WithRecovery(log *slog.Logger) remote.ConfigOption {
	b := &border{log: told.NewLog().Logger(log), nodes: map[string]int{}, strangers: map[string]bool{}}
	return func(c *remote.Config) {
		c.ServerOptions = append(c.ServerOptions, grpc.ChainStreamInterceptor(b.serve),
			grpc.ChainUnaryInterceptor(refuseUnary), grpc.MaxConcurrentStreams(maxStreams))
		c.EndpointWriterQueueSize = min(c.EndpointWriterQueueSize, endpointRoom)
		c.MaxRetryCount = 1
	}
}

// Bounds of a node with WithRecovery.
const (
	// maxNodes bounds the nodes that are connected to it.
	maxNodes = 1 << 14
	// maxStreams bounds the streams in one connection, of which a node has one.
	maxStreams = 16
	// maxStrangers bounds the other addresses that may be answered, in each strangersFor: requests
	// that a third node forwards come from such.
	maxStrangers = 64
	strangersFor = time.Minute
	// endpointRoom is the number of messages to another node for which there is room before it grows.
	endpointRoom = 1000
)

func refuseUnary(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
	return nil, status.Error(codes.Unimplemented, "turnstile: protoactor's remote has no unary calls")
}

// border decides what a node lets in.
type border struct {
	log *slog.Logger

	mu        sync.Mutex
	nodes     map[string]int  // the streams of each node that is connected, by its address
	strangers map[string]bool // other addresses, since the last change
	since     time.Time
}

// serve serves a stream of another node.
func (b *border) serve(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	checked := &checkedStream{ServerStream: stream, border: b}
	defer checked.leave()
	defer func() {
		if r := recover(); r != nil {
			b.log.LogAttrs(context.Background(), slog.LevelError, "a message of another node could not be read",
				slog.Any("panic", r))
			err = status.Errorf(codes.InvalidArgument, "turnstile: the message could not be read: %v", r)
		}
	}()
	checked.system = systemOf(srv)
	return handle(srv, checked)
}

// systemOf gives the actor system of a server of protoactor's remote. It is read from fields that are
// not exported; where another version has other ones, it panics, and every stream is refused.
func systemOf(srv any) *actor.ActorSystem {
	server := reflect.ValueOf(srv).Elem().FieldByName("remote").Elem()
	return (*actor.ActorSystem)(server.FieldByName("actorSystem").UnsafePointer())
}

// enter notes the address of a node that is connected; false where there are too many.
func (b *border) enter(address string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nodes[address] == 0 && len(b.nodes) >= maxNodes {
		return false
	}
	b.nodes[address]++
	return true
}

// answers reports whether the node may be made to send something to an address.
func (b *border) answers(address string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nodes[address] > 0 || b.strangers[address] {
		return true
	}
	if now := time.Now(); now.Sub(b.since) >= strangersFor {
		clear(b.strangers)
		b.since = now
	}
	if len(b.strangers) >= maxStrangers {
		return false
	}
	b.strangers[address] = true
	return true
}

// checkedStream is a stream of another node, of which only what is let in is read.
type checkedStream struct {
	grpc.ServerStream
	border  *border
	system  *actor.ActorSystem
	address string // of that node; "" before it has told it
	warned  bool
}

// RecvMsg receives the next message, and drops what is not let in.
func (s *checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	received, _ := m.(*remote.RemoteMessage)
	address := received.GetConnectRequest().GetServerConnection().GetAddress()
	if s.address == "" && address != "" {
		if !s.border.enter(address) {
			return status.Error(codes.ResourceExhausted, "turnstile: too many nodes are connected")
		}
		s.address = address
	}
	batch := received.GetMessageBatch()
	if batch == nil {
		return nil
	}
	kept := batch.Envelopes[:0]
	for _, envelope := range batch.Envelopes {
		if why := s.refuses(batch, envelope); why == "" {
			kept = append(kept, envelope)
		} else if !s.warned {
			s.warned = true
			s.border.log.LogAttrs(s.Context(), slog.LevelWarn, "a message of another node was dropped, and so will others like it",
				slog.String("node", s.address), slog.String("why", why))
		}
	}
	batch.Envelopes = kept
	return nil
}

// leave: the stream has ended.
func (s *checkedStream) leave() {
	s.border.mu.Lock()
	defer s.border.mu.Unlock()
	if s.border.nodes[s.address]--; s.border.nodes[s.address] <= 0 {
		delete(s.border.nodes, s.address)
	}
}

// refuses gives the reason why a message is not let in; "" for one that is. An index that is not in
// the batch panics, as it would in protoactor's remote.
func (s *checkedStream) refuses(batch *remote.MessageBatch, envelope *remote.MessageEnvelope) string {
	target := batch.Targets[envelope.Target]
	var sender *actor.PID
	if envelope.Sender != 0 {
		sender = batch.Senders[envelope.Sender-1]
	}
	command, about, wrong := commandOf(batch.TypeNames[envelope.TypeId], envelope)
	switch {
	case wrong:
		return "a command that is about no actor"
	case !audience.SameNode(s.system, target):
		return "it is for another node"
	case !s.isTaken(target, command):
		return "the actor that it is for takes none from other nodes"
	case !s.mayAnswer(sender) || !s.mayAnswer(about):
		return "it names an address that is not connected to this node"
	}
	return ""
}

// commandOf reads a message that protoactor itself handles: whether it is one, and the actor that it
// is about. It is wrong without one where it needs one: the actor that gets it would panic.
func commandOf(name string, envelope *remote.MessageEnvelope) (command bool, about *actor.PID, wrong bool) {
	if !strings.HasPrefix(name, "actor.") {
		return false, nil, false
	}
	message, err := remote.Deserialize(envelope.MessageData, name, envelope.SerializerId)
	if err != nil {
		return false, nil, false // protoactor's remote will say so
	}
	switch m := message.(type) {
	case *actor.Watch:
		about, wrong = m.Watcher, m.Watcher == nil
	case *actor.Unwatch:
		about, wrong = m.Watcher, m.Watcher == nil
	case *actor.Terminated:
		about, wrong = m.Who, m.Who == nil
	case *actor.Stop, *actor.PoisonPill:
	default:
		return false, nil, false
	}
	return true, about, wrong
}

// mayAnswer reports whether this node may be made to send something to an actor.
func (s *checkedStream) mayAnswer(pid *actor.PID) bool {
	return pid == nil || audience.SameNode(s.system, pid) || s.border.answers(pid.Address)
}

// isTaken reports whether an actor takes a message, or a command of protoactor's, from other nodes.
// The type of its mailbox says so, which protoactor keeps to itself.
func (s *checkedStream) isTaken(target *actor.PID, command bool) bool {
	process, _ := s.system.ProcessRegistry.GetLocal(target.Id)
	local, is := process.(*actor.ActorProcess)
	if !is {
		return true
	}
	box := reflect.ValueOf(local).Elem().FieldByName("mailbox").Elem().Type()
	guarded, is := reflect.Zero(box).Interface().(interface{ TakesFromOtherNodes(command bool) bool })
	return !is || guarded.TakesFromOtherNodes(command)
}
