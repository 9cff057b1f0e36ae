package interop

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestZkLockLeavesAnOrphan: zk.Lock looks once for the node of a create whose reply was lost. When a server carries
// the create out later, the node stays, and nobody has the lock until the session ends. TestRealOrphan of tests/leases
// shows the same of Turnstile, which removes it.
func TestZkLockLeavesAnOrphan(t *testing.T) {
	t.Parallel()
	const path = "/orders"
	e := scene.StartLate(t)
	lock := func(c *zk.Conn) (*zk.Lock, error) {
		l := zk.NewLock(c, path, zk.WorldACL(zk.PermAll))
		return l, l.Lock()
	}
	// Of one server alone, the library fails requests when a connection is lost: it has tried all servers.
	c := scene.Raw(t, scene.LateTimeout, e.Proxy.Addr(), e.Proxy.Addr())
	first, err := lock(c)
	require.NoError(t, err)
	require.NoError(t, first.Unlock())

	e.Stall()
	granted := make(chan *zk.Lock, 1)
	e.Sent(path, func() {
		l, err := lock(c)
		assert.NoError(t, err)
		granted <- l
	})
	e.Move()
	held := scene.Receive(t, granted)
	require.NoError(t, held.Unlock())
	e.Heal()

	others := make(chan error, 1)
	go func() {
		_, err := lock(e.Witness)
		others <- err
	}()
	scene.Eventually(t, func() bool {
		nodes, _, err := e.Witness.Children(path)
		return err == nil && len(nodes) == 2
	}, "another waits behind the orphan")
	c.Close()
	require.NoError(t, scene.Receive(t, others), "the session that has the orphan is over")
}
