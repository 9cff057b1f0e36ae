package wire_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
)

// fill sets every field of a struct to something that is not zero, and no two numbers to the same.
func fill(v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(*next, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), next)
		}
	case reflect.String:
		v.SetString("text " + time.Duration(*next).String())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*next)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*next))
	default:
		panic(v.Kind())
	}
}

func filled[T any]() T {
	var x T
	var next int64
	fill(reflect.ValueOf(&x).Elem(), &next)
	return x
}

// across gives a message as the other side receives it.
func across[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	data, err := proto.Marshal(m)
	require.NoError(t, err)
	other := m.ProtoReflect().New().Interface()
	require.NoError(t, proto.Unmarshal(data, other))
	return other.(M)
}

// TestAcquireCrosses: everything that messages.Acquire can ask for. A field that is added there and not here fails it.
func TestAcquireCrosses(t *testing.T) {
	want := filled[messages.Acquire]()
	require.Equal(t, want, across(t, wire.FromAcquire(want)).Messages())
	require.Zero(t, across(t, wire.FromAcquire(messages.Acquire{})).Messages())
}

// notices gives one of each, with every field set that crosses.
func notices() []any {
	all := []any{
		filled[*messages.Transition](), filled[*messages.Held](), filled[*messages.Suspended](),
		filled[*messages.Resumed](), filled[*messages.RevokeRequested](), filled[*messages.Revoked](),
		filled[*messages.Deadlocked](), filled[*messages.Released](), filled[*messages.Lost](),
		filled[*messages.Cancelled](), filled[*messages.Failed](), filled[*messages.Waiting](),
		filled[*messages.Watched](), filled[*messages.Contended](), filled[*messages.Checked](),
		filled[*messages.Behind](),
	}
	for _, n := range all {
		for _, name := range []string{"Until", "Deadline", "At"} {
			if f := reflect.ValueOf(n).Elem().FieldByName(name); f.IsValid() {
				f.SetZero()
			}
		}
	}
	return all
}

func TestNoticesCross(t *testing.T) {
	for _, n := range notices() {
		wire.GrantIn(n).Actor = messages.ActorID{}
		got, in := across(t, wire.FromNotice(n, 7)).Notice()
		require.Equal(t, n, got)
		if _, revoke := n.(*messages.RevokeRequested); revoke {
			require.Equal(t, time.Duration(7), in)
		} else {
			require.Zero(t, in)
		}
	}
	require.Nil(t, wire.FromNotice("something else", 0))
	got, _ := (&wire.Event{}).Notice()
	require.Nil(t, got)
}

func TestQueriesAndAnswersCross(t *testing.T) {
	for _, q := range []any{filled[*messages.ReadQueue](), filled[*messages.SendRevokeRequest](),
		filled[*messages.Break](), filled[*messages.SetPermits]()} {
		require.Equal(t, q, across(t, wire.FromQuery("id", q)).Messages())
	}
	for _, a := range []any{filled[*messages.Queue](), filled[*messages.RevokeRequestSent](), filled[*messages.Broken](),
		filled[*messages.PermitsSet]()} {
		require.Equal(t, a, across(t, wire.FromAnswer("id", a)).Messages())
	}
	for _, q := range []any{&messages.ReadLocks{}, &messages.FindMissing{}, &messages.ReadInside{}, &messages.FindDeadlocks{}, &messages.Follow{}, nil} {
		require.Nil(t, wire.FromQuery("id", q))
	}
	refused := across(t, wire.Refuse("id", messages.ReasonNoAuth, "why"))
	require.Nil(t, refused.Messages())
	require.Equal(t, messages.Refusal{Reason: messages.ReasonNoAuth, Detail: "why"}, refused.Refusal())
}

// TestPredecessorCrosses: everything that messages.Contender says of whom a request waits for, and that it is nobody.
func TestPredecessorCrosses(t *testing.T) {
	said := filled[messages.Contender]()
	got := across(t, wire.FromPredecessor(7, said))
	require.Equal(t, said, got.Messages())
	require.Equal(t, uint64(7), got.GetNumber())
	nobody := across(t, wire.FromPredecessor(8, messages.Contender{}))
	require.Zero(t, nobody.Messages())
	require.Equal(t, uint64(8), nobody.GetNumber())
}

// TestPacked: what arrives on another node is the message itself, from its lock actor, and nothing makes the remote end
// the connection.
func TestPacked(t *testing.T) {
	arrives := func(m any) []any {
		packed := wire.Pack(m).(*wire.Packed)
		require.Len(t, packed.GetMessages(), 1, "on the same node")
		twin, err := packed.Serialize()
		require.NoError(t, err)
		there, err := across(t, twin.(*wire.PackedTransport)).Deserialize()
		require.NoError(t, err)
		return there.(*wire.Packed).GetMessages()
	}
	for _, n := range notices() {
		from := wire.GrantIn(n).Actor
		lock := actor.NewPID(from.Address, from.ID)
		require.Equal(t, []any{&actor.MessageEnvelope{Message: n, Sender: lock}}, arrives(n))
	}
	require.Equal(t, []any{&messages.Release{}}, arrives(messages.Release{}))
	require.Equal(t, []any{&messages.Revoke{}}, arrives(&messages.Revoke{}))
	require.Equal(t, []any{&messages.Cancel{Reason: "why"}}, arrives(messages.Cancel{Reason: "why"}))
	require.Equal(t, "as it is", wire.Pack("as it is"))
	empty, err := (&wire.PackedTransport{}).Deserialize()
	require.NoError(t, err)
	require.Empty(t, empty.(*wire.Packed).GetMessages())
}

// TestUnknownFieldIsNamed: a message of a newer program has fields that this one does not know, at any depth.
func TestUnknownFieldIsNamed(t *testing.T) {
	request := &wire.Request{Version: wire.Version, Id: "id", Acquire: wire.FromAcquire(messages.Acquire{Path: "/a"})}
	require.Empty(t, wire.Unknown(across(t, request)))
	newer := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)
	request.Acquire.ProtoReflect().SetUnknown(newer)
	require.Equal(t, "field 99 of turnstile.gateway.Acquire is not known here", wire.Unknown(across(t, request)))
	request.Acquire.ProtoReflect().SetUnknown(nil)
	request.ProtoReflect().SetUnknown(newer)
	require.Equal(t, "field 99 of turnstile.gateway.Request is not known here", wire.Unknown(across(t, request)))
	query := wire.FromQuery("id", filled[*messages.Break]())
	query.GetBreak().GetContender().ProtoReflect().SetUnknown(newer)
	require.Equal(t, "field 99 of turnstile.gateway.Contender is not known here", wire.Unknown(across(t, query)))
}

// TestRetiredFieldIsNamed: a requester of an earlier version asks for what its gateway would have shared.
func TestRetiredFieldIsNamed(t *testing.T) {
	request := &wire.Request{Version: wire.Version, Id: "id", Acquire: wire.FromAcquire(messages.Acquire{Path: "/a"})}
	for number, name := range map[protowire.Number]string{11: "sticky", 12: "cohort", 14: "reentry", 21: "max_waiters"} {
		earlier := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), 1)
		request.Acquire.ProtoReflect().SetUnknown(earlier)
		require.Equal(t, fmt.Sprintf("%s (field %d of turnstile.gateway.Acquire) is not served any more", name, number),
			wire.Unknown(across(t, request)))
	}
}

// TestInvalidTextCrosses: what is only told crosses with marks in the place of bytes that are no
// text. It would not be sent otherwise.
func TestInvalidTextCrosses(t *testing.T) {
	failed, _ := across(t, wire.FromNotice(&messages.Failed{Reason: "\xff", Detail: "a\xc3b"}, 0)).Notice()
	require.Equal(t, &messages.Failed{Reason: "\uFFFD", Detail: "a\uFFFDb"}, failed)

	queue := &messages.Queue{Contenders: []messages.Contender{{Node: "n-\xff", Label: "\xff", Host: "\xff"}}}
	queue.Detail = "\xff"
	answer := across(t, wire.FromAnswer("q", queue))
	require.Equal(t, "\uFFFD", answer.Detail)
	require.Equal(t, "n-\uFFFD", answer.Messages().(*messages.Queue).Contenders[0].Node)
}
