package kinds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
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
	zk := scene.OnEmbedded(t)
	proxy := zk.Proxy(t)
	mutex := scene.Open(t, proxy.Addr()+zk.Root()).Mutex("/sticky", locks.WithSticky(forLong))
	node, last := scene.Cycle(t, mutex)
	scene.Eventually(t, func() bool { return proxy.Operations(rig.OpGetChildren2)+proxy.Operations(rig.OpGetChildren) > 0 },
		"the queue was never read, which says that nobody waits")
	before := requested(proxy)
	const cycles = 500
	for range cycles {
		again, token := scene.Cycle(t, mutex)
		require.Equal(t, node, again)
		require.Greater(t, token, last)
		require.Equal(t, last.Zxid(), token.Zxid())
		last = token
	}
	require.LessOrEqual(t, requested(proxy)-before, cycles/10, "heartbeats, and checks after pauses of this machine")
	nodes := map[string]bool{node: true}
	for range messages.MaxPlace {
		again, token := scene.Cycle(t, mutex)
		require.Greater(t, token, last)
		nodes[again], last = true, token
	}
	require.Len(t, nodes, 2)
}

// TestStickyIsKeptWhileNobodyComes: the node stays, and goes when somebody comes, of this process or another, its time is
// over, or its client closes. A call within its lease is known by the name that the node has.
func TestStickyIsKeptWhileNobodyComes(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		sticky := client.Mutex("/sticky", locks.WithSticky(forLong))
		for name, comes := range map[string]*locks.Mutex{
			"another client":     other.Mutex("/sticky"),
			"with another label": client.Mutex("/sticky", locks.WithLabel("other")),
		} {
			node, token := scene.Cycle(t, sticky)
			scene.AwaitCount(t, zk, "/sticky", 1)
			next := scene.Locked(t, comes.Lock)
			require.NotEqual(t, node, next.Node(), name)
			require.Greater(t, next.Token(), token, name)
			scene.GiveBack(t, next)
			scene.AwaitNone(t, zk, "/sticky")
		}
		scene.Cycle(t, client.Mutex("/sticky", locks.WithSticky(50*time.Millisecond)))
		scene.AwaitNone(t, zk, "/sticky")
		scene.Cycle(t, sticky)
		lease := scene.Locked(t, sticky.Lock)
		within, err := client.Mutex("/within").Lock(lease.Context())
		require.NoError(t, err)
		require.Equal(t, scene.QueueOf(t, client, "/sticky")[0].Who, scene.QueueOf(t, client, "/within")[0].Who)
		scene.GiveBack(t, within, lease)
		require.NoError(t, client.Close(scene.Deadline(t)))
		scene.AwaitNone(t, zk, "/sticky")
	})
}
