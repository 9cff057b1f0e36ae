package gateway

import (
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// newer is a field that this program does not know.
var newer = protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)

// asked is a good request, changed.
func asked(change func(*wire.Request)) *wire.Request {
	r := &wire.Request{Version: wire.Version, Id: "id", Number: 1}
	r.Acquire = wire.FromAcquire(messages.Acquire{Path: "/input"})
	change(r)
	return r
}

// TestBadRequestsAreRefused: with a reason, and the gateway serves others as before.
func TestBadRequestsAreRefused(t *testing.T) {
	s := newStage(t, scene.Session)
	from, told := s.outside.listener(t)
	ask := func(message any) any {
		s.outside.system.Root.RequestWithCustomSender(s.pid, message, from)
		return scene.Receive(t, told).message
	}
	huge, unknown := "/"+strings.Repeat("x", 1<<20), "field 99 of turnstile.gateway."
	for name, c := range map[string]struct {
		request *wire.Request
		reason  string
	}{
		"no version":       {asked(func(r *wire.Request) { r.Version = 0 }), "version 0 of the protocol is not known"},
		"next version":     {asked(func(r *wire.Request) { r.Version = 2 }), "version 2 of the protocol is not known"},
		"no id":            {asked(func(r *wire.Request) { r.Id = "" }), "an id of 0 bytes"},
		"long id":          {asked(func(r *wire.Request) { r.Id = strings.Repeat("x", 1000) }), "an id of 1000 bytes"},
		"id of runes":      {asked(func(r *wire.Request) { r.Id = "x" + strings.Repeat("é", 500) }), "an id of 1001 bytes"},
		"no number":        {asked(func(r *wire.Request) { r.Number = 0 }), "without a number"},
		"no path":          {asked(func(r *wire.Request) { r.Acquire.Path = "" }), "must not be empty"},
		"huge path":        {asked(func(r *wire.Request) { r.Acquire.Path = huge }), "must not be longer than"},
		"garbage path":     {asked(func(r *wire.Request) { r.Acquire.Path = "/a//\x01" }), "an empty element"},
		"unknown mode":     {asked(func(r *wire.Request) { r.Acquire.Mode = 77 }), "mode 77 does not exist"},
		"huge mode":        {asked(func(r *wire.Request) { r.Acquire.Mode = 1 << 31 }), "mode 255 does not exist"},
		"unknown naming":   {asked(func(r *wire.Request) { r.Acquire.Naming = 9 }), "naming 9 does not exist"},
		"reclaims":         {asked(func(r *wire.Request) { r.Acquire.Reclaim = "me" }), "does not work over a gateway"},
		"negative timeout": {asked(func(r *wire.Request) { r.Acquire.Timeout = -1 }), "is negative"},
		"newer acquire":    {asked(func(r *wire.Request) { r.Acquire.ProtoReflect().SetUnknown(newer) }), unknown + "Acquire"},
		"newer request":    {asked(func(r *wire.Request) { r.ProtoReflect().SetUnknown(newer) }), unknown + "Request"},
	} {
		reply, is := ask(c.request).(*wire.Reply)
		require.True(t, is, name)
		require.Equal(t, wire.Standing_REFUSED, reply.Standing, name)
		require.Contains(t, reply.Detail, c.reason, name)
		require.Less(t, len(reply.Detail), 1000, name)
	}
	require.Equal(t, string(messages.ReasonBadInput), ask(&wire.Query{Version: 3, Id: "q"}).(*wire.Answer).Reason)
	require.Contains(t, ask(&wire.Query{Version: wire.Version, Id: "q"}).(*wire.Answer).Detail, "without a question")
	require.Contains(t, ask(wire.FromQuery("q", &messages.ReadQueue{Path: "bad"})).(*wire.Answer).Detail, "bad")

	// The last is of a type that the gateway's node does not link: protoactor's remote would end the process. With
	// gateway.WithRecovery the connection ends.
	unlinked, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("nobody/knows.proto"), Package: proto.String("nobody"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Knows")}},
	}, nil)
	require.NoError(t, err)
	for _, strange := range []proto.Message{wrapperspb.String("garbage"), &wire.Reply{}, &wire.Answer{}, &wire.Event{},
		&wire.Request{}, asked(func(r *wire.Request) { r.Over = true }), &wire.PackedTransport{},
		dynamicpb.NewMessage(unlinked.Messages().Get(0))} {
		s.outside.system.Root.Send(s.pid, strange)
	}
	scene.GiveBack(t, scene.LockAt(t, s.outside.client(t, s.pid), "/input"))
}

// TestBadRepliesEndARequest: a gateway that says what the requester does not know is not believed.
func TestBadRepliesEndARequest(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		for reason, spoil := range map[string]func(*wire.Reply){
			"version 2 of the protocol is not known here": func(r *wire.Reply) { r.Version = 2 },
			"a standing that is not known here":           func(r *wire.Reply) { r.Standing = 55 },
			"an event that is not known":                  func(r *wire.Reply) { r.First, r.Events = 1, []*wire.Event{{}} },
			"because":                                     func(r *wire.Reply) { r.Standing, r.Detail = wire.Standing_REFUSED, "because" },
		} {
			fake := o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
				if r, is := ctx.Message().(*wire.Request); is && !r.GetOver() {
					reply := &wire.Reply{Version: wire.Version, Id: r.Id, Number: r.Number}
					spoil(reply)
					ctx.Respond(reply)
				}
			}))
			failed := o.asksAt(gateway.At(fake), messages.Acquire{Path: "/bad"}).hears().(*messages.Failed)
			require.Equal(t, messages.ReasonRefused, failed.Reason)
			require.Contains(t, failed.Detail, reason)
		}
	})
}

// TestBadInputIsToldHere: what only a request over a gateway must not have is told before anything is sent, as other bad
// input is, which package faces has.
func TestBadInputIsToldHere(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		nobody, good := actor.NewPID("127.0.0.1:1", "nobody"), messages.Acquire{Path: "/good"}
		for _, a := range []*asks{
			o.asksAt(gateway.At(nobody), messages.Acquire{Path: "/good", Label: "\xff"}),
			o.asksAt(gateway.At(nobody), messages.Acquire{Path: "/good", Owner: "\xff"}),
			o.asksAt(gateway.At(nobody), messages.Acquire{Path: "/good", Caller: "\xff"}),
			o.asksAt(gateway.At(), good),
			o.asksAt(gateway.At(nil), good),
			o.asksAt(gateway.At(nobody), good, actors.WithOwner(nobody)),
		} {
			require.Equal(t, messages.ReasonBadInput, a.hears().(*messages.Failed).Reason)
			require.Equal(t, []messages.State{messages.StateFailed}, a.rec.States())
		}
	})
}
