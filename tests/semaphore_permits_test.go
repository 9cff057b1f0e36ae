package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestContendersDisagreeOnPermits: who comes with another number is told both.
func TestContendersDisagreeOnPermits(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		lease, err := one.Semaphore("/disagree", 3).Acquire(deadline(t), 1)
		require.NoError(t, err)
		for _, client := range []*locks.Client{one, two} {
			for _, permits := range []int{2, 4} {
				_, err = client.Semaphore("/disagree", permits).Acquire(deadline(t), 2)
				require.ErrorIs(t, err, locks.ErrPermits)
				require.ErrorContains(t, err, "3")
				require.ErrorContains(t, err, itoa(permits))
			}
		}
		require.Len(t, zk.Children(t, zk.Raw(t), "/disagree"), 1, "who was refused leaves nothing")
		require.True(t, lease.Valid())
		require.NoError(t, lease.Unlock(deadline(t)))
		_, err = two.Semaphore("/disagree", 4).TryAcquire(deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrPermits, "the number stays when nobody holds")
	})
}

// TestPermitsInTheLockPath: the number is a decimal one in the lock path's data, where kazoo keeps it too.
func TestPermitsInTheLockPath(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client, o := open(t, zk.Connect()), look(t, zk)
		o.plant(t, "/permits/theirs", "2")
		o.plant(t, "/permits/empty", "")
		for path, permits := range map[string]int{"/permits/theirs": 2, "/permits/empty": 7, "/permits/new": 12} {
			lease, err := client.Semaphore(path, permits).Acquire(deadline(t), 2)
			require.NoError(t, err)
			data, _, err := o.Get(zk.Root() + path)
			require.NoError(t, err)
			require.Equal(t, itoa(permits), string(data))
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		for n, data := range []string{"two", "0", "-3", "2 ", "2.0", "99999999999999999999", "{\"permits\":2}", "\x00\x00\x00\x02"} {
			path := "/permits/bad-" + itoa(n)
			o.plant(t, path, data)
			_, err := client.Semaphore(path, 2).Acquire(deadline(t), 1)
			require.ErrorIs(t, err, locks.ErrPermits, "%q", data)
			require.ErrorContains(t, err, path)
			awaitNone(t, zk, path)
			kept, _, err := o.Get(zk.Root() + path)
			require.NoError(t, err)
			require.Equal(t, data, string(kept), "what is not ours stays")
		}
	})
}

// TestDataOfASemaphoreAreSpoiled: who waits is told, and who holds goes on.
func TestDataOfASemaphoreAreSpoiled(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client, o := open(t, zk.Connect()), look(t, zk)
		lease, err := client.Semaphore("/spoiled", 1).Acquire(deadline(t), 1)
		require.NoError(t, err)
		waiting := queueUp(t, client, "/spoiled", 1, 1, messages.StateWatching)
		_, err = o.Set(zk.Root()+"/spoiled", []byte("many"), -1)
		require.NoError(t, err)
		got := receive(t, waiting)
		require.ErrorIs(t, got.err, locks.ErrPermits)
		require.ErrorContains(t, got.err, "many")
		require.NoError(t, lease.Context().Err())
		require.NoError(t, lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/spoiled")
	})
}

// setPermits writes a semaphore's number of permits, as an operator would, or a client of another language.
func setPermits(t *testing.T, o outside, path string, permits int) {
	t.Helper()
	_, err := o.Set(o.at.Root()+path, []byte(itoa(permits)), -1)
	require.NoError(t, err)
}

// TestPermitsGrow: those come in who fit now, in their order, and the others wait on.
func TestPermitsGrow(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, zk *servers) {
		client, o := open(t, zk.Connect()), look(t, zk)
		semaphore := client.Semaphore("/grow", 1)
		holder, err := semaphore.Acquire(deadline(t), 1)
		require.NoError(t, err)
		var waiters []<-chan answer
		for range 3 {
			waiters = append(waiters, queueUp(t, client, "/grow", 1, 1, messages.StateWatching))
		}
		setPermits(t, o, "/grow", 3)
		second, third := receive(t, waiters[0]), receive(t, waiters[1])
		require.NoError(t, second.err)
		require.NoError(t, third.err)
		require.Empty(t, waiters[2])
		require.NoError(t, holder.Unlock(deadline(t)))
		fourth := receive(t, waiters[2])
		require.NoError(t, fourth.err)
		require.Zero(t, client.Session().Counters().Polls, "it was told, and had not to look")
	})
}

// TestPermitsShrink: those who hold go on, and others come in when enough of them have left, whoever that is. Who
// waits for more than there are is told so.
func TestPermitsShrink(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, zk *servers) {
		for n, leave := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 1}} {
			client, o, path := open(t, zk.Connect()), look(t, zk), "/shrink-"+itoa(n)
			var holders [3]*locks.Lease
			for i := range holders {
				var err error
				holders[i], err = client.Semaphore(path, 3).Acquire(deadline(t), 1)
				require.NoError(t, err)
			}
			rec := recorder(t, client)
			light := elsewhere(deadline(t), permitsOf(client.Semaphore(path, 3, observedBy(rec)), 1))
			await(t, rec, messages.StateWatching)
			heavy := queueUp(t, client, path, 3, 3, messages.StateWatching)

			setPermits(t, o, path, 2)
			_, err := rec.AwaitNth(deadline(t), messages.StateWatching, 2) // it has read the new number
			require.NoError(t, err)
			for range 3 { // and has come to rest
				settle(t, client)
			}
			require.NoError(t, holders[leave[0]].Unlock(deadline(t)))
			settle(t, client)
			require.Empty(t, light, "two hold, and there are two permits")
			require.NoError(t, holders[leave[1]].Unlock(deadline(t)))
			got := receive(t, light)
			require.NoError(t, got.err)
			require.Zero(t, client.Session().Counters().Polls, "it was told, and had not to look")
			refused := receive(t, heavy)
			require.ErrorIs(t, refused.err, locks.ErrPermits)
			require.ErrorContains(t, refused.err, "3 permits are asked for")
			stays := holders[3-leave[0]-leave[1]]
			require.True(t, stays.Valid())
			require.NoError(t, stays.Unlock(deadline(t)))
			require.NoError(t, got.lease.Unlock(deadline(t)))
			awaitNone(t, zk, path)
		}
	})
}

// TestSetPermits: by a client, on purpose.
func TestSetPermits(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		require.NoError(t, two.SetPermits(deadline(t), "/new/semaphore", 1))
		holder, err := one.Semaphore("/new/semaphore", 1).Acquire(deadline(t), 1)
		require.NoError(t, err)
		waiting := queueUp(t, one, "/new/semaphore", 1, 1, messages.StateWatching)
		require.NoError(t, two.SetPermits(deadline(t), "/new/semaphore", 2))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		_, err = two.Semaphore("/new/semaphore", 1).Acquire(deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrPermits, "who comes from now on must name the new number")
		require.NoError(t, two.SetPermits(deadline(t), "/new/semaphore", 1))
		waiting = queueUp(t, two, "/new/semaphore", 1, 1, messages.StateWatching)
		require.NoError(t, holder.Unlock(deadline(t)))
		require.NoError(t, got.lease.Unlock(deadline(t)))
		require.NoError(t, receive(t, waiting).err)
		for _, bad := range []int{0, -1, queue.MaxPermits + 1} {
			require.ErrorIs(t, two.SetPermits(deadline(t), "/new/semaphore", bad), actors.ErrBadAcquire)
		}
	})
}
