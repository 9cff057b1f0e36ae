package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestShareOfAGateway: the nodes of one requester weigh at most a quarter of the bound of the gateway's session.
// A request beyond that is refused, and may pass; another requester has its own quarter.
func TestShareOfAGateway(t *testing.T) {
	const node = 4 + len("/a/_c_01234567-0123-0123-0123-0123456789ab-lock-0123456789")
	s := newStage(t, scene.Session, actors.WithMaxNodeBytes(4*2*node))
	another := newNode(t)
	s.inside.connect(t, another)
	client, other := s.outside.client(t, s.pid), another.client(t, s.pid)
	a, b := scene.LockAt(t, client, "/a"), scene.LockAt(t, client, "/b")
	_, err := client.Mutex("/c").Lock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrSessionFull)
	require.True(t, locks.MayPass(err))
	scene.GiveBack(t, scene.LockAt(t, other, "/c"), scene.LockAt(t, other, "/d"), a)
	scene.Eventually(t, func() bool {
		lease, err := client.Mutex("/e").Lock(scene.Deadline(t))
		return err == nil && lease.Unlock(scene.Deadline(t)) == nil
	}, "what was given back leaves room")
	scene.GiveBack(t, b)
}
