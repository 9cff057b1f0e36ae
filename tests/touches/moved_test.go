package touches

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// A request of a session may be carried out after the session has moved to another server and has committed there:
// when the server that it has left goes on, with that request and with a later connect request that nobody waits for.
// The leader makes that server the session's owner as soon as it reads the connect request, and looks at the owner of
// a request only when that has come to the head of its queue. So nothing that the session reads after the move proves
// that its older requests never will be carried out. The server that it has moved to closes its connection at the next
// transaction, and at no sync before.
func TestRequestsOutliveAMove(t *testing.T) {
	t.Parallel()
	e := scene.StartLate(t)
	c := scene.Raw(t, scene.LateTimeout, e.Proxy.Addr())
	create := func(path string) error {
		_, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		return err
	}
	e.Stall()
	lost := make(chan error, 1)
	e.Sent("/late", func() { lost <- create("/late") })
	e.Move()
	require.Error(t, scene.Receive(t, lost))
	scene.Eventually(t, func() bool { return create("/moved") == nil }, "the session commits elsewhere")
	found, _, err := c.Exists("/late")
	require.NoError(t, err)
	require.False(t, found)

	e.Heal()
	found, _, err = e.Witness.Exists("/late")
	require.NoError(t, err)
	require.True(t, found, "it is carried out")
	_, err = c.Sync("/")
	require.NoError(t, err)
	require.Error(t, create("/after"))
}
