package elections

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestRealContestDeletedLate: a holder gives a contest back, and its server, which is slow to pass the delete on, carries it
// out after the session has moved to another server, has deleted the node there, and somebody else has made it anew. The
// new holder's node stays.
func TestRealContestDeletedLate(t *testing.T) {
	t.Parallel()
	e := scene.StartLate(t)
	moving, other := e.Open(), scene.Open(t, e.Addrs())
	lease := scene.Locked(t, moving.Contest("/arena/c").Lock)
	scene.CatchUp(t, moving)
	e.Stall()
	done := make(chan error, 1)
	e.Sent("/arena/c", func() { done <- lease.Unlock(scene.Deadline(t)) })
	e.Move()
	require.NoError(t, scene.Receive(t, done), "it was given back at the other server")
	next := scene.Locked(t, other.Contest("/arena/c").Lock)
	require.Greater(t, next.Token(), lease.Token())

	e.Heal()
	_, stat, err := e.Witness.Get("/arena/c")
	require.NoError(t, err, "a late delete took the node of the next holder")
	require.Equal(t, next.Token().Zxid(), stat.Czxid)
	require.True(t, next.Valid())
	_, err = other.Contest("/arena/c").TryLock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	scene.GiveBack(t, next)
	scene.Eventually(t, func() bool {
		children, _, err := e.Witness.Children("/arena")
		return err == nil && len(children) == 0
	}, "nothing is left")
}
