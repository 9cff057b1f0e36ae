package gateway

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
)

// across gives a reply as another node takes it apart.
func across(t *testing.T, x *wire.Reply) relay.Reply {
	t.Helper()
	data, err := proto.Marshal(x)
	require.NoError(t, err)
	got := &wire.Reply{}
	require.NoError(t, proto.Unmarshal(data, got))
	r, wrong := readReply(got)
	require.Empty(t, wrong)
	return r
}

// reply is one with every field set.
func reply() relay.Reply {
	return relay.Reply{ID: "id", Gateway: 1, Acceptance: relay.Full, Detail: "detail", Number: 2, Lasts: 3, Every: 4, First: 5,
		Events: []relay.Event{{Notice: &messages.RevokeRequested{Grant: messages.Grant{Path: "/a"}}, In: 6},
			{Notice: &messages.Checked{Grant: messages.Grant{Path: "/a"}}, Answers: 7}},
		Predecessor: &relay.Predecessor{Number: 7, Contender: messages.Contender{Path: "/a", Node: "n-1", Host: "web1"}}}
}

// TestRepliesCross: every field of a reply. One that is added to it and does not cross fails it.
func TestRepliesCross(t *testing.T) {
	whole := reply()
	for i := range reflect.TypeFor[relay.Reply]().NumField() {
		require.False(t, reflect.ValueOf(whole).Field(i).IsZero(), reflect.TypeFor[relay.Reply]().Field(i).Name)
	}
	require.Equal(t, whole, across(t, writeReply(whole)))
	nobody := reply()
	nobody.Predecessor.Contender = messages.Contender{}
	require.Equal(t, nobody, across(t, writeReply(nobody)))
}

// TestRequestsCross: every field of a sending. One that is added to it and does not cross fails it.
func TestRequestsCross(t *testing.T) {
	whole := relay.Request{ID: "id", Gateway: 1, Number: 2, Seen: 3, Want: &messages.Acquire{Path: "/a", TellMore: true},
		Wish: relay.Cancel, Reason: "reason", Asks: relay.Asks{relay.WatchContention: 4, relay.Check: 5}, Over: true}
	for i := range reflect.TypeFor[relay.Request]().NumField() {
		require.False(t, reflect.ValueOf(whole).Field(i).IsZero(), reflect.TypeFor[relay.Request]().Field(i).Name)
	}
	data, err := proto.Marshal(writeRequest(whole))
	require.NoError(t, err)
	got := &wire.Request{}
	require.NoError(t, proto.Unmarshal(data, got))
	r, wrong := readRequest(got)
	require.Empty(t, wrong)
	require.Equal(t, whole, r)
}

// TestMoreIsSaidThanIsKnown: of a reply that says nothing of whom a request waits for, and of one that says more than is
// known here, all else is taken.
func TestMoreIsSaidThanIsKnown(t *testing.T) {
	less := reply()
	less.Predecessor = nil
	require.Equal(t, less, across(t, writeReply(less)))
	more := writeReply(reply())
	field := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)
	more.ProtoReflect().SetUnknown(field)
	more.GetPredecessor().ProtoReflect().SetUnknown(field)
	require.Equal(t, reply(), across(t, more))
}

// TestLongPredecessor: of a contender whose node says very much a reply says which node it is.
func TestLongPredecessor(t *testing.T) {
	long := reply()
	said := &long.Predecessor.Contender
	said.Label, said.Since = strings.Repeat("x", 3<<10), time.Unix(1, 0).UTC()
	require.Equal(t, *said, across(t, writeReply(long)).Predecessor.Contender)
	said.Label = strings.Repeat("x", 1<<20)
	require.Equal(t, messages.Contender{Path: "/a", Node: "n-1"}, across(t, writeReply(long)).Predecessor.Contender)
	require.Less(t, proto.Size(writeReply(long)), maxPredecessor)
}
