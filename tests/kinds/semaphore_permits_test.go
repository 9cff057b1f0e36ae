package kinds

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestExactPermits: a contender that comes with another number is told both numbers, once.
func TestExactPermits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		lease, err := one.Semaphore("/disagree", 3).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		for _, client := range []*locks.Client{one, two} {
			for _, permits := range []int{2, 4} {
				_, err = client.Semaphore("/disagree", permits, locks.WithExactPermits()).Acquire(patient.Deadline(t), 2)
				requirePermits(t, err, 3)
				require.ErrorContains(t, err, fmt.Sprintf("/disagree has 3 permits, not %d", permits))
				require.Equal(t, 1, strings.Count(err.Error(), "another number of permits"), err)
			}
		}
		require.Len(t, zk.Children(t, zk.Raw(t), "/disagree"), 1, "who was refused leaves nothing")
		require.True(t, lease.Valid())
		patient.GiveBack(t, lease)
		_, err = two.Semaphore("/disagree", 4, locks.WithExactPermits()).TryAcquire(patient.Deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrPermits, "the number stays when nobody holds")
	})
}

// requirePermits requires an ErrPermits that has the number in its field.
func requirePermits(t *testing.T, err error, permits int) {
	t.Helper()
	require.ErrorIs(t, err, locks.ErrPermits)
	var why *locks.Error
	require.ErrorAs(t, err, &why)
	require.Equal(t, permits, why.Permits)
}

// TestTheNumberAtTheLockPathCounts, whatever number a contender comes with.
func TestTheNumberAtTheLockPathCounts(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		heavy, err := one.Semaphore("/counts", 3).Acquire(patient.Deadline(t), 2)
		require.NoError(t, err)
		_, err = two.Semaphore("/counts", 5).TryAcquire(patient.Deadline(t), 2)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "there are three")
		light, err := two.Semaphore("/counts", 1).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err, "there are three")
		_, err = two.Semaphore("/counts", 5).Acquire(patient.Deadline(t), 4)
		requirePermits(t, err, 3)
		require.ErrorContains(t, err, "4 permits are asked for")
		patient.GiveBack(t, heavy, light)
		all, err := two.Semaphore("/counts", 1).Acquire(patient.Deadline(t), 3)
		require.NoError(t, err, "more than it would make a new one with")
		patient.GiveBack(t, all)
	})
}

// TestPermitsInTheLockPath: the number is a decimal one in the lock path's data, where kazoo keeps it too.
func TestPermitsInTheLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, o := zk.Open(t), stories.Look(t, zk)
		o.Plant(t, "/permits/theirs", "2")
		o.Plant(t, "/permits/empty", "")
		for path, permits := range map[string]int{"/permits/theirs": 2, "/permits/empty": 7, "/permits/new": 12} {
			lease, err := client.Semaphore(path, permits).Acquire(patient.Deadline(t), 2)
			require.NoError(t, err)
			data, _, err := o.Get(zk.Root() + path)
			require.NoError(t, err)
			require.Equal(t, strconv.Itoa(permits), string(data))
			patient.GiveBack(t, lease)
		}
		for n, data := range []string{"two", "0", "-3", "2 ", "2.0", "99999999999999999999", "{\"permits\":2}", "\x00\x00\x00\x02"} {
			path := "/permits/bad-" + strconv.Itoa(n)
			o.Plant(t, path, data)
			_, err := client.Semaphore(path, 2).Acquire(patient.Deadline(t), 1)
			requirePermits(t, err, 0)
			require.ErrorContains(t, err, path)
			stories.AwaitNone(t, zk, path)
			kept, _, err := o.Get(zk.Root() + path)
			require.NoError(t, err)
			require.Equal(t, data, string(kept), "what is not ours stays")
		}
	})
}

// TestDataOfASemaphoreAreSpoiled: waiters are told, and holders go on.
func TestDataOfASemaphoreAreSpoiled(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, o := zk.Open(t), stories.Look(t, zk)
		lease, err := client.Semaphore("/spoiled", 1).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		waiting := queueUp(t, client, "/spoiled", 1, 1, messages.StateWatching)
		_, err = o.Set(zk.Root()+"/spoiled", []byte("many"), -1)
		require.NoError(t, err)
		got := patient.Receive(t, waiting)
		require.ErrorIs(t, got.Err, locks.ErrPermits)
		require.ErrorContains(t, got.Err, "many")
		require.NoError(t, lease.Context().Err())
		patient.GiveBack(t, lease)
		stories.AwaitNone(t, zk, "/spoiled")
	})
}

// setPermits writes a semaphore's number of permits, as an operator would, or a client of another language.
func setPermits(t *testing.T, o stories.Outside, path string, permits int) {
	t.Helper()
	_, err := o.Set(o.At.Root()+path, []byte(strconv.Itoa(permits)), -1)
	require.NoError(t, err)
}

// TestPermitsGrow: those come in who fit now, in their order, and the others wait on.
func TestPermitsGrow(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		client, o := zk.Open(t), stories.Look(t, zk)
		semaphore := client.Semaphore("/grow", 1)
		holder, err := semaphore.Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		var waiters []<-chan patient.Answer
		for range 3 {
			waiters = append(waiters, queueUp(t, client, "/grow", 1, 1, messages.StateWatching))
		}
		setPermits(t, o, "/grow", 3)
		second, third := patient.Receive(t, waiters[0]), patient.Receive(t, waiters[1])
		require.NoError(t, second.Err)
		require.NoError(t, third.Err)
		require.Empty(t, waiters[2])
		patient.GiveBack(t, holder)
		fourth := patient.Receive(t, waiters[2])
		require.NoError(t, fourth.Err)
		require.Zero(t, client.Session().Counters().Polls, "it was told, and had not to look")
	})
}

// TestPermitsShrink: holders go on, and waiters come in when enough of the holders have left, in
// any order. A waiter that wants more permits than there are is told so.
func TestPermitsShrink(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		for n, leave := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 1}} {
			client, o, path := zk.Open(t), stories.Look(t, zk), "/shrink-"+strconv.Itoa(n)
			var holders [3]*locks.Lease
			for i := range holders {
				var err error
				holders[i], err = client.Semaphore(path, 3).Acquire(patient.Deadline(t), 1)
				require.NoError(t, err)
			}
			rec := patient.Recorder(t, client)
			light := patient.Elsewhere(patient.Deadline(t), permitsOf(client.Semaphore(path, 3, patient.ObservedBy(rec)), 1))
			patient.Await(t, rec, messages.StateWatching)
			heavy := queueUp(t, client, path, 3, 3, messages.StateWatching)

			setPermits(t, o, path, 2)
			_, err := rec.AwaitNth(patient.Deadline(t), messages.StateWatching, 2) // it has read the new number
			require.NoError(t, err)
			for range 3 { // and has come to rest
				patient.CatchUp(t, client)
			}
			patient.GiveBack(t, holders[leave[0]])
			patient.CatchUp(t, client)
			require.Empty(t, light, "two hold, and there are two permits")
			patient.GiveBack(t, holders[leave[1]])
			got := patient.Receive(t, light)
			require.NoError(t, got.Err)
			require.Zero(t, client.Session().Counters().Polls, "it was told, and had not to look")
			refused := patient.Receive(t, heavy)
			requirePermits(t, refused.Err, 2)
			require.ErrorContains(t, refused.Err, "3 permits are asked for")
			stays := holders[3-leave[0]-leave[1]]
			require.True(t, stays.Valid())
			patient.GiveBack(t, stays, got.Lease)
			stories.AwaitNone(t, zk, path)
		}
	})
}

// TestSetPermits: by a client, on purpose.
func TestSetPermits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		require.NoError(t, two.SetPermits(patient.Deadline(t), "/new/semaphore", 1))
		holder, err := one.Semaphore("/new/semaphore", 1).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		waiting := queueUp(t, one, "/new/semaphore", 1, 1, messages.StateWatching)
		require.NoError(t, two.SetPermits(patient.Deadline(t), "/new/semaphore", 2))
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		_, err = two.Semaphore("/new/semaphore", 7).TryAcquire(patient.Deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "the new number counts for those who come, too")
		require.NoError(t, two.SetPermits(patient.Deadline(t), "/new/semaphore", 1))
		waiting = queueUp(t, two, "/new/semaphore", 1, 1, messages.StateWatching)
		patient.GiveBack(t, holder, got.Lease)
		require.NoError(t, patient.Receive(t, waiting).Err)
		for _, bad := range []int{0, -1, queue.MaxPermits + 1} {
			require.ErrorIs(t, two.SetPermits(patient.Deadline(t), "/new/semaphore", bad), actors.ErrBadAcquire)
		}
	})
}
