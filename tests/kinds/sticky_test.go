package kinds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// forLong is longer than any test.
const forLong = time.Hour

// requested counts what a client has asked the servers for, but for checks: heartbeats, and those
// of nodes to reuse.
func requested(p *rig.Proxy) int {
	return p.Operations(rig.OpCreate) + p.Operations(rig.OpDelete) + p.Operations(rig.OpSetData) +
		p.Operations(rig.OpGetData) + p.Operations(rig.OpGetChildren2) + p.Operations(rig.OpGetChildren)
}

// TestStickyCostsNothing: after the first time a sticky lock sends nothing, and each grant has a greater
// token; when the places of the node's transaction are used up there is a new node.
func TestStickyCostsNothing(t *testing.T) {
	zk := stories.OnEmbedded(t)
	proxy := zk.Proxy(t)
	mutex := patient.Open(t, proxy.Addr()+zk.Root()).Mutex("/sticky", locks.WithSticky(forLong))
	node, last := patient.Cycle(t, mutex)
	patient.Eventually(t, func() bool { return proxy.Operations(rig.OpGetChildren2)+proxy.Operations(rig.OpGetChildren) > 0 },
		"the queue was never read, which says that nobody waits")
	before := requested(proxy)
	const cycles = 500
	for range cycles {
		again, token := patient.Cycle(t, mutex)
		require.Equal(t, node, again)
		require.Greater(t, token, last)
		require.Equal(t, last.Zxid(), token.Zxid())
		last = token
	}
	require.LessOrEqual(t, requested(proxy)-before, cycles/10, "heartbeats, and checks after pauses of this machine")
	nodes := map[string]bool{node: true}
	for range messages.MaxPlace {
		again, token := patient.Cycle(t, mutex)
		require.Greater(t, token, last)
		nodes[again], last = true, token
	}
	require.Len(t, nodes, 2)
}

// TestStickyIsKeptWhileNobodyComes: the node stays, and goes when somebody comes, of this process or another, its time is
// over, or its client closes. A call within its lease is known by the name that the node has.
func TestStickyIsKeptWhileNobodyComes(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		sticky := client.Mutex("/sticky", locks.WithSticky(forLong))
		for name, comes := range map[string]*locks.Mutex{
			"another client":     other.Mutex("/sticky"),
			"with another label": client.Mutex("/sticky", locks.WithLabel("other")),
		} {
			node, token := patient.Cycle(t, sticky)
			stories.AwaitCount(t, zk, "/sticky", 1)
			next := patient.Locked(t, comes.Lock)
			require.NotEqual(t, node, next.Node(), name)
			require.Greater(t, next.Token(), token, name)
			patient.GiveBack(t, next)
			stories.AwaitNone(t, zk, "/sticky")
		}
		patient.Cycle(t, client.Mutex("/sticky", locks.WithSticky(50*time.Millisecond)))
		stories.AwaitNone(t, zk, "/sticky")
		patient.Cycle(t, sticky)
		lease := patient.Locked(t, sticky.Lock)
		within, err := client.Mutex("/within").Lock(lease.Context())
		require.NoError(t, err)
		require.Equal(t, patient.QueueOf(t, client, "/sticky")[0].Who, patient.QueueOf(t, client, "/within")[0].Who)
		patient.GiveBack(t, within, lease)
		require.NoError(t, client.Close(patient.Deadline(t)))
		stories.AwaitNone(t, zk, "/sticky")
	})
}
