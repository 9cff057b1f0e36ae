package kinds

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestNamed: by its name a key is locked, tried, and given back, by another goroutine, too. A key that is not held is
// not given back.
func TestNamed(t *testing.T) {
	zk := scene.OnEmbedded(t)
	keyed := zk.Open(t).Keyed("/named")
	mine, others := keyed.ByName(), zk.Open(t).Keyed("/named").ByName()
	require.Same(t, mine, keyed.ByName())
	const key = "cert/example.com"
	tries := func(by *locks.Named, want bool) {
		t.Helper()
		got, err := by.TryLock(scene.Deadline(t), key)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.ErrorIs(t, mine.Unlock(scene.Deadline(t), key), locks.ErrNotHeld)
	require.NoError(t, mine.Lock(scene.Deadline(t), key))
	require.True(t, mine.Lease(key).Valid())
	require.Nil(t, mine.Lease("another"))
	tries(mine, false)
	tries(others, false)
	require.ErrorIs(t, others.Unlock(scene.Deadline(t), key), locks.ErrNotHeld, "it is another's")
	require.NoError(t, mine.Lock(scene.Deadline(t), "another"), "keys do not wait for each other")
	unlocked := make(chan error, 1)
	go func() { unlocked <- mine.Unlock(scene.Deadline(t), key) }()
	require.NoError(t, <-unlocked)
	require.ErrorIs(t, mine.Unlock(scene.Deadline(t), key), locks.ErrNotHeld)
	require.Nil(t, mine.Lease(key))
	tries(others, true)
	tries(mine, false)
	require.NoError(t, others.Unlock(scene.Deadline(t), key))
	require.NoError(t, mine.Unlock(scene.Deadline(t), "another"))
}

// TestNamedGoesInTurn: calls of one process have the lock one after the other, in their order, with one node at a time;
// a process between them has its turn after one hold.
func TestNamedGoesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		mine, other := client.Keyed("/named").ByName(),
			scene.Client(t, server).Keyed("/named").ByName()
		order := make(chan string, 100)
		hold := func(by *locks.Named, who string) {
			if err := by.Lock(t.Context(), "key"); err != nil {
				order <- err.Error()
				return
			}
			order <- who
			time.Sleep(time.Second)
			if err := by.Unlock(t.Context(), "key"); err != nil {
				order <- err.Error()
			}
		}
		for i := range 3 {
			go hold(mine, fmt.Sprintf("mine %d", i))
			time.Sleep(100 * time.Millisecond)
		}
		go hold(other, "other")
		time.Sleep(100 * time.Millisecond)
		queue, err := client.Queue(t.Context(), "/named/key")
		require.NoError(t, err)
		require.Len(t, queue, 2, "a node for each process")
		for _, who := range []string{"mine 0", "other", "mine 1", "mine 2"} {
			require.Equal(t, who, <-order)
		}
		time.Sleep(time.Minute)
		require.Empty(t, order)
	})
}

// TestNamedIsLost: OnLost tells of the key. It stays taken here until Unlock, which says that it was lost; nobody else's
// lock is given back instead, in this process or in another.
func TestNamedIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		told := make(chan string, 10)
		client := scene.Client(t, server)
		mine := client.Keyed("/named", locks.WithOnLost(func(key string, err error) {
			told <- fmt.Sprintf("%q %v", key, errors.Is(err, locks.ErrLost))
		})).ByName()
		require.NoError(t, mine.Lock(t.Context(), ""))
		require.NoError(t, server.Expire(mine.Lease("").Session()))
		require.Equal(t, `"" true`, <-told)
		other := scene.Client(t, server).Keyed("/named").ByName()
		require.NoError(t, other.Lock(t.Context(), ""), "other processes have it")
		require.False(t, mine.Lease("").Valid())
		got, err := mine.TryLock(t.Context(), "")
		require.NoError(t, err)
		require.False(t, got)
		next := make(chan error, 1)
		go func() { next <- mine.Lock(t.Context(), "") }()
		time.Sleep(time.Minute)
		queue, err := client.Queue(t.Context(), client.Keyed("/named").Path(""))
		require.NoError(t, err)
		require.Len(t, queue, 1, "the next one of this process waits for Unlock")

		require.ErrorIs(t, mine.Unlock(t.Context(), ""), locks.ErrLost)
		time.Sleep(time.Minute)
		require.Empty(t, next, "the other process has it")
		require.NoError(t, other.Unlock(t.Context(), ""))
		require.NoError(t, <-next)
		require.NoError(t, mine.Unlock(t.Context(), ""))
		require.ErrorIs(t, mine.Unlock(t.Context(), ""), locks.ErrNotHeld)
		require.Empty(t, told, "what was given back was not lost")
	})
}

// TestNamedGivesUp: a caller that waits here, or at the servers, and whose ctx ends, leaves nothing
// behind; the error says whom it waited for. Close ends the callers that wait here. An Unlock whose
// ctx has ended gives back all the same.
func TestNamedGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		mine, other := client.Keyed("/named").ByName(),
			scene.Client(t, server).Keyed("/named").ByName()
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			t.Cleanup(cancel)
			return ctx
		}
		require.NoError(t, mine.Lock(t.Context(), "key"))
		for _, by := range []*locks.Named{mine, other} {
			var e *locks.Error
			err := by.Lock(soon(), "key")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorAs(t, err, &e)
			require.Equal(t, mine.Lease("key").Node(), e.Behind.Node)
			require.Equal(t, "/named/key", e.Path)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		err := mine.Unlock(over, "key")
		if err != nil { // it may be confirmed at once
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, other.Lock(t.Context(), "key"))
		require.NoError(t, other.Unlock(t.Context(), "key"))
		require.ErrorIs(t, mine.Lock(over, "key"), context.Canceled)

		require.NoError(t, mine.Lock(t.Context(), "key"))
		waits := make(chan error, 1)
		go func() { waits <- mine.Lock(t.Context(), "key") }()
		time.Sleep(time.Second)
		require.NoError(t, client.Close(t.Context()))
		require.ErrorIs(t, <-waits, locks.ErrClosed)
		require.ErrorIs(t, mine.Unlock(t.Context(), "key"), locks.ErrLost)
		require.ErrorIs(t, mine.Lock(t.Context(), "key"), locks.ErrClosed)
	})
}
