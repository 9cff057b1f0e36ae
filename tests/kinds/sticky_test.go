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
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		mutex := patient.Open(t, proxy.Addr()+zk.Root()).Mutex("/sticky", locks.WithSticky(forLong))
		node, last := patient.Cycle(t, mutex)
		awaitOperations(t, proxy)
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
	})
}

// awaitOperations waits until the queue has been read, which says that nobody waits.
func awaitOperations(t *testing.T, p *rig.Proxy) {
	t.Helper()
	patient.Eventually(t, func() bool { return p.Operations(rig.OpGetChildren2)+p.Operations(rig.OpGetChildren) > 0 },
		"the queue was never read")
}
