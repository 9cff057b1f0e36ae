package kinds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestAllOfNothing: what is no lock is refused, and nothing is sent; two queues of one lock path are two locks.
func TestAllOfNothing(t *testing.T) {
	at := scene.OnEmbedded(t)
	client := at.Open(t)
	for _, c := range []struct {
		bad  locks.Locker
		says string
		err  error
	}{
		{nil, "", actors.ErrBadAcquire}, {client.Semaphore("/y", 1).Weight(0), "/y", actors.ErrBadAcquire},
		{client.Mutex("/x"), "twice", actors.ErrBadAcquire}, {client.Mutex("z"), `lock "z"`, locks.ErrBadPath},
	} {
		_, err := locks.All(scene.Deadline(t), client.Mutex("/x"), c.bad)
		require.ErrorIs(t, err, c.err)
		require.ErrorContains(t, err, c.says)
	}
	_, err := locks.All(scene.Deadline(t))
	require.ErrorIs(t, err, actors.ErrBadAcquire)
	require.Empty(t, at.Children(t, at.Raw(t), ""))
	leases, err := locks.All(scene.Deadline(t), client.Mutex("/x"), client.Mutex("/x", locks.WithName("other")))
	require.NoError(t, err)
	require.WithinDuration(t, leases.Each()[0].Deadline(), leases.Deadline(), time.Minute)
	require.NoError(t, leases.Unlock(scene.Deadline(t)))
	require.ErrorIs(t, leases.Unlock(scene.Deadline(t)), locks.ErrNotHeld)
}

// TestAllAgreeWhateverTheirChroots: programs that know the same locks by different paths take them in
// one order, so that none waits for another in a circle. Here that order is not the one of the paths
// as the first program names them: /m, /z.
func TestAllAgreeWhateverTheirChroots(t *testing.T) {
	zk := scene.OnEmbedded(t)
	outer, inner := zk.Open(t), scene.Open(t, zk.Connect()+"/a")
	first := scene.LockAt(t, inner, "/z")
	got := make(chan *locks.Leases, 1)
	go func() {
		leases, err := locks.All(scene.Deadline(t), outer.Mutex("/m"), inner.Mutex("/z"))
		assert.NoError(t, err)
		got <- leases
	}()
	scene.AwaitCount(t, zk, "/a/z", 2)
	require.Empty(t, zk.Children(t, zk.Raw(t), "/m"), "what comes later in the order is not asked for yet")
	scene.GiveBack(t, first)
	leases := <-got
	require.NotNil(t, leases)
	require.Equal(t, []string{"/z", "/m"}, []string{leases.Each()[0].Path(), leases.Each()[1].Path()})
	require.NoError(t, leases.Unlock(scene.Deadline(t)))
}
