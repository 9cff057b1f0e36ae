package carrier

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/dial"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestFind: of the nodes with a request's GUID those count that its session owns. The first in the queue is kept, and the
// others are deleted. So are those whose deletes were sent before.
func TestFind(t *testing.T) {
	type made struct {
		guid string
		ours bool
	}
	const guid, other = "guid", "another"
	for name, c := range map[string]struct {
		nodes   []made
		not     int // the number of the node among those, from one, whose delete was sent; 0 for none
		found   int
		removed []int
	}{
		"the path is empty":                {},
		"its own":                          {nodes: []made{{guid, true}}, found: 1},
		"another request's":                {nodes: []made{{other, true}}},
		"another session's":                {nodes: []made{{guid, false}}},
		"another session's before its own": {nodes: []made{{guid, false}, {guid, true}}, found: 2},
		"several of its own":               {nodes: []made{{other, true}, {guid, true}, {guid, true}, {guid, true}}, found: 2, removed: []int{3, 4}},
		"one that is to go":                {nodes: []made{{guid, true}}, not: 1, removed: []int{1}},
		"one that is to go before its own": {nodes: []made{{guid, true}, {guid, true}}, not: 1, found: 2, removed: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			addr := embedded.Run(t).Addr()
			conn, stranger := dial.Session(t, addr), dial.Session(t, addr)
			require.NoError(t, conn.EnsureParents("/a"))
			spec := coordinator.NewSpec(&messages.Acquire{Path: "/a"}, guid, "actor", time.Unix(0, 0))
			want, names := &coordinator.Found{}, []string{""}
			for i, n := range c.nodes {
				maker := stranger
				if n.ours {
					maker = conn
				}
				created, err := maker.CreatePlain("/a", spec.Style.Prefix(n.guid), ownerData(spec, 0))
				require.NoError(t, err)
				names = append(names, created.Name)
				if i+1 == c.found {
					want.Name, want.Czxid = created.Name, created.Czxid
				}
			}
			for _, i := range c.removed {
				want.Removed = append(want.Removed, names[i])
			}
			var not []string
			if c.not > 0 {
				not = []string{names[c.not]}
			}
			require.Equal(t, want, Carrier{Conn: conn}.CarryOut(&coordinator.Find{Spec: spec, GUID: guid, Not: not}))
			for i, node := range names[1:] {
				_, exists, err := conn.Exists("/a/" + node)
				require.NoError(t, err)
				require.Equal(t, !slices.Contains(c.removed, i+1), exists, "node %d", i+1)
			}
		})
	}
}

// TestGUIDOf: the GUID is found in the names of all kinds of contenders, of one and the other length.
func TestGUIDOf(t *testing.T) {
	var guids []string
	for _, want := range []messages.Acquire{
		{}, {Name: "billing"}, {Mode: messages.Read}, {Mode: messages.Write}, {Mode: messages.Semaphore, Permits: 2},
		{Naming: messages.KazooNaming}, {Naming: messages.KazooNaming, Mode: messages.Read},
		{Naming: messages.RecipeNaming}, {Naming: messages.RecipeNaming, Mode: messages.Write},
		{Reclaim: "key"}, {Name: "billing", Reclaim: "key"},
	} {
		spec := coordinator.NewSpec(&want, uuid.NewString(), "actor", time.Unix(0, 0))
		guids = append(guids, spec.GUID)
		slices.Sort(guids)
		require.Equal(t, spec.GUID, guidOf(spec.Style.Prefix(spec.GUID)+"0000000001", guids))
	}
	for _, other := range []string{"", "_c_", "0", "z", "lock-0000000001", "_c_" + uuid.NewString() + "-lock-0000000001", guids[0][:30]} {
		require.Empty(t, guidOf(other, guids), other)
	}
	require.Empty(t, guidOf("lock-0000000001", nil))
}
