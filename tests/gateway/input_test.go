package gateway

import (
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
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
	s := newStage(t, patient.Session)
	from, told := s.outside.listener(t)
	root := s.outside.system.Root
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
		root.RequestWithCustomSender(s.pid, c.request, from)
		reply, is := await(t, told).message.(*wire.Reply)
		require.True(t, is, name)
		require.Equal(t, wire.Standing_REFUSED, reply.Standing, name)
		require.Contains(t, reply.Detail, c.reason, name)
		require.Less(t, len(reply.Detail), 1000, name)
	}
	root.RequestWithCustomSender(s.pid, &wire.Query{Version: 3, Id: "q"}, from)
	require.Equal(t, string(messages.ReasonBadInput), await(t, told).message.(*wire.Answer).Reason)
	root.RequestWithCustomSender(s.pid, &wire.Query{Version: wire.Version, Id: "q"}, from)
	require.Contains(t, await(t, told).message.(*wire.Answer).Detail, "without a question")
	root.RequestWithCustomSender(s.pid, wire.FromQuery("q", &messages.ReadQueue{Path: "bad"}), from)
	require.Contains(t, await(t, told).message.(*wire.Answer).Detail, "bad")

	for _, strange := range []proto.Message{wrapperspb.String("garbage"), &wire.Reply{}, &wire.Answer{}, &wire.Event{},
		&wire.Request{}, asked(func(r *wire.Request) { r.Over = true }), &wire.PackedTransport{}} {
		root.Send(s.pid, strange)
	}
	client := s.outside.client(t, s.pid)
	lease := patient.Locked(t, client.Mutex("/input").Lock)
	patient.GiveBack(t, lease)
}

// TestBadRepliesEndARequest: a gateway that says what the requester does not know is not believed.
func TestBadRepliesEndARequest(t *testing.T) {
	outside := newNode(t)
	for name, c := range map[string]struct {
		spoil  func(*wire.Reply)
		reason string
	}{
		"version":  {func(r *wire.Reply) { r.Version = 2 }, "version 2 of the protocol is not known here"},
		"standing": {func(r *wire.Reply) { r.Standing = 55 }, "a standing that is not known here"},
		"event":    {func(r *wire.Reply) { r.First, r.Events = 1, []*wire.Event{{}} }, "an event that is not known"},
		"refused":  {func(r *wire.Reply) { r.Standing, r.Detail = wire.Standing_REFUSED, "because" }, "because"},
	} {
		fake := outside.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if r, is := ctx.Message().(*wire.Request); is && !r.GetOver() {
				reply := &wire.Reply{Version: wire.Version, Id: r.Id, Number: r.Number}
				c.spoil(reply)
				ctx.Respond(reply)
			}
		}))
		observer, told := outside.listener(t)
		near := actor.NewPID(outside.system.Address(), observer.Id)
		props := gateway.NewLock(gateway.At(fake), messages.Acquire{Path: "/bad"}, actors.WithObserver(near))
		outside.system.Root.Spawn(props)
		failed, _ := notice[*messages.Failed](t, told)
		require.Equal(t, messages.ReasonRefused, failed.Reason, name)
		require.Contains(t, failed.Detail, c.reason, name)
	}
}

// TestBadInputIsToldHere: what is not well formed is told before anything is sent, as a local lock
// actor tells it.
func TestBadInputIsToldHere(t *testing.T) {
	outside := newNode(t)
	nobody := actor.NewPID("127.0.0.1:1", "nobody")
	for _, c := range []struct {
		at   *gateway.Gateways
		want messages.Acquire
		opts []actors.LockOption
	}{
		{gateway.At(nobody), messages.Acquire{Path: "bad"}, nil},
		{gateway.At(nobody), messages.Acquire{Path: "/good", Label: "\xff"}, nil},
		{gateway.At(nobody), messages.Acquire{Path: "/good", Owner: "\xff"}, nil},
		{gateway.At(nobody), messages.Acquire{Path: "/good", Caller: "\xff"}, nil},
		{gateway.At(), messages.Acquire{Path: "/good"}, nil},
		{gateway.At(nil), messages.Acquire{Path: "/good"}, nil},
		{gateway.At(nobody), messages.Acquire{Path: "/good"}, []actors.LockOption{actors.WithOwner(nobody)}},
	} {
		observer, told := outside.listener(t)
		near := actor.NewPID(outside.system.Address(), observer.Id)
		outside.system.Root.Spawn(gateway.NewLock(c.at, c.want, append(c.opts, actors.WithObserver(near))...))
		moved := await(t, told).message.(*messages.Transition)
		require.Equal(t, messages.StateFailed, moved.To)
		failed, _ := notice[*messages.Failed](t, told)
		require.Equal(t, messages.ReasonBadInput, failed.Reason)
		require.NotEmpty(t, failed.Detail)
	}
}

// TestUnknownTypeEndsNothing: a message of a type that the gateway's node does not link.
// protoactor's remote would end the process; with gateway.WithRecovery the connection ends.
func TestUnknownTypeEndsNothing(t *testing.T) {
	s := newStage(t, patient.Session)
	client := s.outside.client(t, s.pid)
	s.outside.system.Root.Send(s.pid, unlinked())
	lease := patient.Locked(t, client.Mutex("/unlinked").Lock)
	patient.GiveBack(t, lease)
}
