package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestShareOfAGateway: the nodes of one requester weigh at most a quarter of the bound of the gateway's session.
// A request beyond that is refused, and may pass; another requester has its own quarter.
func TestShareOfAGateway(t *testing.T) {
	const node = 4 + len("/a/_c_01234567-0123-0123-0123-0123456789ab-lock-0123456789")
	s := newStage(t, patient.Session, actors.WithMaxNodeBytes(4*2*node))
	another := newNode(t)
	s.inside.connect(t, another)
	client, other := s.outside.client(t, s.pid), another.client(t, s.pid)
	ctx := patient.Deadline(t)
	a, err := client.Mutex("/a").Lock(ctx)
	require.NoError(t, err)
	b, err := client.Mutex("/b").Lock(ctx)
	require.NoError(t, err)
	_, err = client.Mutex("/c").Lock(ctx)
	require.ErrorIs(t, err, locks.ErrSessionFull)
	require.True(t, locks.MayPass(err))
	for _, path := range []string{"/c", "/d"} {
		lease, err := other.Mutex(path).Lock(ctx)
		require.NoError(t, err)
		defer func() { patient.GiveBack(t, lease) }()
	}
	patient.GiveBack(t, a)
	patient.Eventually(t, func() bool {
		lease, err := client.Mutex("/e").Lock(ctx)
		if err == nil {
			err = lease.Unlock(ctx)
		}
		return err == nil
	}, "what was given back leaves room")
	patient.GiveBack(t, b)
}
