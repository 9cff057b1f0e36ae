package gateway

import (
	"encoding/binary"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
)

// lasting is a session whose lease does not end.
type lasting struct{}

func (lasting) Left(uint64, uint64) time.Duration { return time.Hour }

// wires are a gateway and a requester, and what comes to them from hostile nodes.
type wires struct {
	t         *testing.T
	now       relay.Instant
	table     *relay.Table
	requester *relay.Requester
}

// decoded reports whether bytes are a message.
func decoded(bytes []byte, m proto.Message) bool { return proto.Unmarshal(bytes, m) == nil }

// sendable: remote would drop a message that cannot be sent, and its receiver would wait for it.
func (w *wires) sendable(m proto.Message) {
	_, err := proto.Marshal(m)
	require.NoError(w.t, err)
}

func (w *wires) perform(out []relay.Output) {
	for _, o := range out {
		switch o := o.(type) {
		case relay.Spawn:
			w.table.Told(w.now, o.ID, &messages.Held{Grant: messages.Grant{Path: o.Want.Path, Token: 1}})
		case relay.Tell:
			w.table.Told(w.now, o.ID, &messages.Contended{})
			w.table.Told(w.now, o.ID, &messages.Checked{})
		case relay.Answer:
			w.sendable(writeReply(o.Reply))
		case relay.Send:
			w.sendable(writeRequest(o.Request))
		case relay.Dismiss:
			w.sendable(writeRequest(o.Request))
		}
	}
}

// take takes one message, as the actors of this package do.
func (w *wires) take(kind byte, bytes []byte) {
	var asked wire.Request
	var told wire.Reply
	var query wire.Query
	var answer wire.Answer
	var packed wire.PackedTransport
	switch {
	case kind%5 == 0 && decoded(bytes, &asked):
		if r, wrong := readRequest(&asked); wrong == "" {
			w.perform(w.table.Request(w.now, lasting{}, messages.ActorID{Address: "far:1", ID: "asks"}, r))
		} else {
			w.sendable(writeReply(relay.Refuse(clip(asked.GetId()), asked.GetNumber(), wrong)))
		}
	case kind%5 == 1 && decoded(bytes, &told):
		if r, wrong := readReply(&told); wrong == "" {
			w.perform(w.requester.Reply(w.now, r))
			_ = relay.Afterwards(r)
		}
	case kind%5 == 2 && decoded(bytes, &query) && wire.Unknown(&query) == "":
		if q := query.Messages(); q != nil {
			_ = inspect.Check(q)
			w.sendable(wire.FromQuery(query.GetId(), q))
		}
	case kind%5 == 3 && decoded(bytes, &answer):
		_, _ = answer.Refusal(), answer.Messages()
	case kind%5 == 4 && decoded(bytes, &packed):
		p, err := packed.Deserialize()
		require.NoError(w.t, err)
		if all := p.(*wire.Packed).GetMessages(); len(all) > 0 {
			_, err = p.Serialize()
			require.NoError(w.t, err)
		}
	}
	w.now += relay.Instant(kind) * relay.Instant(100*time.Millisecond)
	w.perform(w.table.Flush(w.now, lasting{}))
	w.perform(w.table.Sweep(w.now))
	w.perform(w.requester.Wake(w.now))
	w.perform(w.requester.Ask(w.now, relay.Ask(kind%2)))
}

// FuzzWire has other nodes send anything: to a gateway, to a requester, to those who ask, and to owners. Nothing panics, every
// answer can be sent, and no more memory is used than the messages allow.
func FuzzWire(f *testing.F) {
	sent := func(kind byte, m proto.Message) []byte {
		bytes, err := proto.Marshal(m)
		require.NoError(f, err)
		return append(binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(bytes))), bytes...)
	}
	want := messages.Acquire{Path: "/a", Mode: messages.Semaphore, Permits: 3, Deadlocks: messages.Detection{Root: "/", Every: time.Second}}
	more := []relay.Event{{Notice: &messages.Waiting{Before: 2}}, {Notice: &messages.Held{Grant: messages.Grant{Path: "/a"}, Places: 3}},
		{Notice: &messages.Watched{Readable: true}}, {Notice: &messages.Suspended{}}}
	answers := []relay.Event{{Notice: &messages.Resumed{}}, {Notice: &messages.Contended{}, Answers: 1}, {Notice: &messages.Checked{}, Answers: 2}}
	for _, seed := range [][]byte{
		append(sent(0, writeRequest(relay.Request{ID: "a", Number: 1, Want: &want})), sent(0, writeRequest(relay.Request{ID: "a", Number: 2, Seen: 1 << 63, Wish: relay.Cancel, Reason: "x"}))...),
		sent(0, writeRequest(relay.Request{ID: "a", Number: 1 << 63, Want: &want, Over: true})),
		append(sent(0, writeRequest(relay.Request{ID: "a", Number: 1, Want: &want})), sent(0, writeRequest(relay.Request{ID: "a", Number: 2, Asks: relay.Asks{1, 1 << 63}}))...),
		append(sent(1, writeReply(relay.Reply{ID: "me/0", Gateway: 1, Number: 1, Lasts: 1 << 62, First: 1, Events: more})),
			sent(1, writeReply(relay.Reply{ID: "me/0", Gateway: 1, Number: 2, Lasts: 1 << 62, First: 5, Events: answers}))...),
		sent(1, writeReply(reply())),
		sent(1, writeReply(relay.Reply{ID: "me/0", Gateway: 1, Number: 1, Lasts: 1 << 62, First: 1, Events: []relay.Event{{Notice: &messages.Held{Grant: messages.Grant{Path: "/a"}}}}})),
		sent(2, wire.FromQuery("q", &messages.Break{Contender: messages.Contender{Path: "/a", Node: "n-1"}})),
		sent(2, wire.FromQuery("q", &messages.SetPermits{Path: "/a", Permits: 3})),
		sent(3, wire.FromAnswer("q", &messages.Queue{Path: "/a", Contenders: []messages.Contender{{Path: "/a", Node: "n-1"}}})),
		sent(4, &wire.PackedTransport{What: &wire.PackedTransport_Event{Event: wire.FromNotice(&messages.Lost{Detail: "x"}, 0)}}),
		append([]byte{0, 0, 20}, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.BytesType), 1<<40)...),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		before, size := allocated(), len(input)
		w := &wires{t: t, now: 1, table: relay.NewTable(7, time.Second, relay.Usual()),
			requester: relay.NewRequester("me", 2, messages.Acquire{Path: "/a", TellMore: true})}
		w.perform(w.requester.Begin(w.now))
		for len(input) >= 3 {
			kind, length := input[0], min(int(binary.BigEndian.Uint16(input[1:])), len(input)-3)
			w.take(kind, input[3:3+length])
			input = input[3+length:]
		}
		require.Less(t, allocated()-before, uint64(32<<20+4*size), "bytes, for %d", size)
	})
}

// allocated gives the bytes that this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
