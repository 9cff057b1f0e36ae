package carrier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// sessions gives a session whose nodes are looked for, and another.
func sessions(t *testing.T) (*embedded.Server, carrier.Carrier, *zkconn.Conn) {
	t.Helper()
	server := embedded.Run(t)
	conn := scene.Dial(t, server.Addr())
	require.NoError(t, conn.EnsureParents("/a"))
	return server, carrier.Carrier{Conn: conn}, scene.Dial(t, server.Addr())
}

func specOf(guid string, mode messages.Mode, path string) *coordinator.Spec {
	return coordinator.NewSpec(&messages.Acquire{Path: path, Mode: mode}, guid, "actor", time.Unix(0, 0))
}

// asking gives the first query of a new session's coordinator for a request.
func asking(t *testing.T, want messages.Acquire, seed uint64) (*coordinator.Coordinator, *coordinator.Spec, coordinator.Query) {
	t.Helper()
	c := coordinator.New(0, time.Minute, coordinator.DefaultBounds(), seed)
	c.Apply(coordinator.Connected{Timeout: time.Minute}, coordinator.At{})
	spec := coordinator.NewSpec(&want, "id", "actor", time.Unix(0, 0))
	return c, spec, asked(t, c.Apply(&coordinator.Order{Request: 1, Spec: spec, Effect: machine.Effect{Do: machine.Create, Op: 1}}, coordinator.At{})).Query
}

// asked gives the one query among some outputs.
func asked(t *testing.T, outputs []coordinator.Output) *coordinator.Ask {
	t.Helper()
	for _, out := range outputs {
		if ask, is := out.(*coordinator.Ask); is {
			return ask
		}
	}
	require.Fail(t, "nothing is asked")
	return nil
}

// TestLook: of a create whose reply was lost the node is found, in every kind of queue, and no node of another epoch.
func TestLook(t *testing.T) {
	for _, want := range []messages.Acquire{
		{}, {Name: "billing"}, {Mode: messages.Read}, {Mode: messages.Write}, {Mode: messages.Semaphore, Permits: 2},
		{Naming: messages.KazooNaming}, {Naming: messages.KazooNaming, Mode: messages.Read},
		{Naming: messages.RecipeNaming}, {Naming: messages.RecipeNaming, Mode: messages.Write}, {Mode: messages.Contest},
	} {
		t.Run(fmt.Sprintf("%+v", want), func(t *testing.T) {
			want.Path = "/a/c"
			server, k, _ := sessions(t)
			var czxid int64
			for seed := range uint64(2) { // the first session's stays
				c, spec, create := asking(t, want, seed)
				if want.Mode == messages.Contest && seed == 0 {
					continue // it would be taken
				}
				made := k.CarryOut(create).(*coordinator.Created)
				require.Zero(t, made.Failure)
				czxid = made.Node.Czxid
				c.Apply(&coordinator.Reply{ID: 1, Answer: &coordinator.Created{Failure: coordinator.Failure{Outcome: coordinator.Unknown}}}, coordinator.At{})
				look := asked(t, c.Apply(&coordinator.Order{Request: 1, Effect: machine.Effect{Do: machine.Verify, Op: 2}}, coordinator.At{})).Query
				name := made.Node.Name
				if spec.One != "" {
					name = spec.Guard(create.(*coordinator.Create).GUID)
				}
				require.Equal(t, &coordinator.Looked{Nodes: []coordinator.Seen{{Name: name, Czxid: czxid}}}, k.CarryOut(look))
				if spec.One == "" {
					continue
				}
				require.NoError(t, k.Conn.Delete("/a/"+name))
				require.Equal(t, &coordinator.Looked{Nodes: []coordinator.Seen{{Name: name, Czxid: czxid}}}, k.CarryOut(look), "somebody has deleted its guard")
				require.NoError(t, k.Conn.Delete("/a/c"))
				require.Empty(t, k.CarryOut(look).(*coordinator.Looked).Nodes, "and the node")
				made = k.CarryOut(create).(*coordinator.Created)
				require.Zero(t, made.Failure)
				czxid = made.Node.Czxid
				hidden, err := server.Inject(embedded.Fault{Op: embedded.OpGetChildren2, Action: embedded.Refuse, Code: noAuth, Count: -1})
				require.NoError(t, err)
				found := k.CarryOut(look).(*coordinator.Looked)
				require.Equal(t, []coordinator.Seen{{Name: name, Czxid: czxid}}, found.Nodes, "its parent may not be listed")
				require.Equal(t, coordinator.NoAuth, found.Failure.Cause)
				hidden.Remove()
				require.NoError(t, k.Conn.Delete("/a/c"))
				require.Equal(t, &coordinator.Looked{Nodes: []coordinator.Seen{{Name: name}}}, k.CarryOut(look), "a guard without its node")
				_, err = k.Conn.CreateGuarded("/a", "c", spec.Guard(guid), nil)
				require.NoError(t, err)
				require.Equal(t, &coordinator.Looked{Nodes: []coordinator.Seen{{Name: name}}}, k.CarryOut(look), "it is beside another's node")
			}
		})
	}
}

// noAuth is KeeperException.Code.NOAUTH.
const noAuth = -102

// TestLookReadsAtOnce: however many nodes are sought, they are read in one round trip.
func TestLookReadsAtOnce(t *testing.T) {
	const many = 100
	server, k, _ := sessions(t)
	c := coordinator.New(0, time.Minute, coordinator.DefaultBounds(), 1)
	apply := func(in coordinator.Input) []coordinator.Output { return c.Apply(in, coordinator.At{}) }
	apply(coordinator.Connected{Timeout: time.Minute})
	what := &coordinator.Look{Path: "/a"}
	for id := range coordinator.RequestID(many) {
		spec := specOf("id", 0, fmt.Sprint("/a/", id))
		ask := asked(t, apply(&coordinator.Order{Request: id, Spec: spec, Effect: machine.Effect{Do: machine.Create, Op: 1}}))
		_, err := k.Conn.CreatePlain("/a", spec.Style.Prefix(ask.Query.(*coordinator.Create).GUID), nil)
		require.NoError(t, err)
		apply(&coordinator.Reply{ID: ask.ID, Answer: &coordinator.Created{Failure: coordinator.Failure{Outcome: coordinator.Unknown}}})
		look := asked(t, apply(&coordinator.Order{Request: id, Effect: machine.Effect{Do: machine.Verify, Op: 2}})).Query.(*coordinator.Look)
		what.Mark, what.Seek = look.Mark, append(what.Seek, look.Seek...)
	}
	reads, err := server.Inject(embedded.Fault{Op: embedded.OpExists, Action: embedded.HoldReplies, Count: -1})
	require.NoError(t, err)
	answer := make(chan coordinator.Answer, 1)
	go func() { answer <- k.CarryOut(what) }()
	require.Eventually(t, func() bool { return reads.Hits() == many }, 10*time.Second, time.Millisecond)
	reads.Remove()
	reads.Release()
	require.Len(t, (<-answer).(*coordinator.Looked).Nodes, many)
}

// TestLookOfAPathThatIsGone: there is nothing.
func TestLookOfAPathThatIsGone(t *testing.T) {
	_, k, _ := sessions(t)
	require.Equal(t, &coordinator.Looked{}, k.CarryOut(&coordinator.Look{Path: "/gone"}))
}
