package kinds

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// requirePermits requires an ErrPermits that has the number in its field.
func requirePermits(t *testing.T, err error, permits int, says string) {
	t.Helper()
	var why *locks.Error
	require.ErrorAs(t, err, &why)
	require.ErrorIs(t, err, locks.ErrPermits)
	require.Equal(t, permits, why.Permits)
	require.ErrorContains(t, err, says)
}

// TestExactPermits: a contender that comes with another number is told both numbers, once, whoever holds.
func TestExactPermits(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		lease := scene.Permits(1, 3).Holds(t, one, "/disagree")
		for _, client := range []*locks.Client{one, two} {
			for _, permits := range []int{2, 4} {
				_, err := client.Semaphore("/disagree", permits, locks.WithExactPermits()).Acquire(scene.Deadline(t), 2)
				requirePermits(t, err, 3, fmt.Sprintf("/disagree has 3 permits, not %d", permits))
				require.Equal(t, 1, strings.Count(err.Error(), "another number of permits"), err)
			}
		}
		require.Len(t, zk.Children(t, zk.Raw(t), "/disagree"), 1, "who was refused leaves nothing")
		scene.GiveBack(t, lease)
		_, err := two.Semaphore("/disagree", 4, locks.WithExactPermits()).TryAcquire(scene.Deadline(t), 1)
		requirePermits(t, err, 3, "")
	})
}

// TestPermitsInTheLockPath: the number is a decimal one in the lock path's data, where kazoo keeps it too. It counts,
// whatever number a contender comes with. Data that are no number stay.
func TestPermitsInTheLockPath(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, o := zk.Open(t), scene.Look(t, zk)
		o.Plant(t, "/theirs", "2")
		o.Plant(t, "/empty", "")
		for path, permits := range map[string]int{"/theirs": 2, "/empty": 7, "/new": 7} {
			for _, of := range []int{7, 1} {
				lease := scene.Permits(permits, of).Holds(t, client, path)
				require.Equal(t, strconv.Itoa(permits), zk.Read(t, path).Data)
				scene.Permits(1, 9).Fails(t, client, path)
				_, err := client.Semaphore(path, 9).TryAcquire(scene.Deadline(t), permits+1)
				requirePermits(t, err, permits, fmt.Sprint(permits+1, " permits are asked for"))
				scene.GiveBack(t, lease)
			}
		}
		for n, data := range []string{"two", "0", "-3", "2 ", "2.0", "99999999999999999999", "{\"permits\":2}", "\x00\x00\x00\x02"} {
			path := fmt.Sprint("/bad-", n)
			o.Plant(t, path, data)
			_, err := client.Semaphore(path, 2).Acquire(scene.Deadline(t), 1)
			requirePermits(t, err, 0, path)
			scene.AwaitNone(t, zk, path)
			require.Equal(t, data, zk.Read(t, path).Data, "what is not ours stays")
			_, err = client.Permits(scene.Deadline(t), path)
			require.ErrorIs(t, err, locks.ErrPermits)
		}
	})
}

// TestPermitsChange: while some hold and some wait. Waiters come in when there are more permits, or when enough holders have
// left; holders go on. One waiter and one observer hear of it late, because they were cut off meanwhile.
func TestPermitsChange(t *testing.T) {
	const path = "/change"
	scene.EachServerAlone(t, func(t *testing.T, zk *scene.Servers) {
		client, proxy, one := zk.Open(t), zk.Proxy(t), scene.Permits(1, 7)
		cutOff := scene.Open(t, proxy.Addr()+zk.Root())
		told, err := cutOff.ObservePermits(scene.Deadline(t), path)
		require.NoError(t, err)
		require.Zero(t, scene.Receive(t, told), "there is no such path")
		set := func(permits int) {
			t.Helper()
			require.NoError(t, client.SetPermits(scene.Deadline(t), path, permits))
			now, err := client.Permits(scene.Deadline(t), path)
			require.NoError(t, err)
			require.Equal(t, permits, now)
		}
		set(1)
		require.Equal(t, 1, scene.Receive(t, told), "not of the path, which is made first")
		held := []*locks.Lease{one.Holds(t, client, path)}
		second, third, late := one.Waits(t, client, path), one.Waits(t, client, path), one.Waits(t, cutOff, path)
		set(3)
		require.Equal(t, 3, scene.Receive(t, told))
		held = append(held, second.Granted(t), third.Granted(t))
		many := scene.Permits(3, 7).Waits(t, client, path)

		proxy.Refuse(true)
		proxy.Cut()
		scene.Eventually(t, func() bool { return cutOff.State().Phase == actors.Disconnected }, "it is not cut off")
		set(2)
		proxy.Refuse(false)
		require.Equal(t, 2, scene.Receive(t, told))
		for _, i := range []int{1, 0} {
			late.Waits(t)
			scene.GiveBack(t, held[i])
			scene.CatchUp(t, cutOff)
		}
		held[0] = late.Granted(t)
		requirePermits(t, many.Fails(t), 2, "3 permits are asked for")

		spoiled := one.Waits(t, client, path)
		scene.Look(t, zk).Write(t, "", "change", "many")
		requirePermits(t, spoiled.Fails(t), 0, "many")
		for range told { // there is nothing to follow any more
		}
		scene.GiveBack(t, held[0], held[2])
		scene.AwaitNone(t, zk, path)
	})
}

// TestBadPermits are refused before anything is sent.
func TestBadPermits(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	for _, bad := range []int{0, -1, queue.MaxPermits + 1} {
		for permits, n := range map[int]int{bad: 1, 3: bad} {
			_, err := client.Semaphore("/bad/permits", permits).TryAcquire(scene.Deadline(t), n)
			require.ErrorIs(t, err, actors.ErrBadAcquire)
			require.ErrorContains(t, err, fmt.Sprint(min(bad, queue.MaxPermits)))
		}
		require.ErrorIs(t, client.SetPermits(scene.Deadline(t), "/bad/permits", bad), actors.ErrBadAcquire)
	}
	_, err := client.Permits(scene.Deadline(t), "bad")
	require.ErrorIs(t, err, locks.ErrBadPath)
	require.ErrorIs(t, client.SetPermits(scene.Deadline(t), "bad", 2), locks.ErrBadPath)
	require.Empty(t, zk.Children(t, zk.Raw(t), ""), "nothing was made")
}

// TestPermitsAreReadBehindTheQueue: a contender holds by a number that stood there when its node was there already. So
// it waits where the number was made smaller while it read the queue.
func TestPermitsAreReadBehindTheQueue(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client, proxy, one := zk.Open(t), zk.Proxy(t), scene.Permits(1, 2)
	late := scene.Open(t, proxy.Addr()+zk.Root())
	holder := one.Holds(t, client, "/behind")
	listing := proxy.Expect(rig.Rule{Op: rig.OpGetChildren2, Action: rig.Delay,
		Path: func(path string) bool { return strings.HasSuffix(path, "/behind") }})
	rec := scene.Recorder(t, late)
	waiting := scene.Elsewhere(scene.Deadline(t), one(late, "/behind", scene.ObservedBy(rec)).Lock)
	scene.AwaitFault(t, listing, waiting)
	require.NoError(t, client.SetPermits(scene.Deadline(t), "/behind", 1))
	listing.Release()
	scene.Await(t, rec, messages.StateWatching)
	require.Empty(t, waiting)
	scene.GiveBack(t, holder)
	scene.GiveBack(t, scene.Got(t, waiting))
}

// TestFollowersHearOfPermits: who follows a semaphore's queue hears of its number, too, and who reads the locks below a
// root.
func TestFollowersHearOfPermits(t *testing.T) {
	client := scene.OnEmbedded(t).Open(t)
	lease := scene.Permits(2, 3).Holds(t, client, "/followed")
	queues := make(chan *messages.Queue, 8)
	follower := client.System().Root.Spawn(actor.PropsFromFunc(func(a actor.Context) {
		switch msg := a.Message().(type) {
		case *actor.Started:
			a.Request(client.Session().PID(), &messages.Follow{Path: "/followed"})
		case *messages.Queue:
			queues <- msg
		}
	}))
	defer client.System().Root.Stop(follower)
	require.Equal(t, 3, scene.Receive(t, queues).Permits)
	require.NoError(t, client.SetPermits(scene.Deadline(t), "/followed", 1))
	q := scene.Receive(t, queues)
	for q.Permits != 1 {
		q = scene.Receive(t, queues)
	}
	require.Len(t, q.Contenders, 1)
	require.True(t, q.Contenders[0].Holds, "it holds more than there are by now")
	require.Empty(t, q.Contenders[0].WaitsFor)
	tree, err := client.Locks(scene.Deadline(t), "/")
	require.NoError(t, err)
	require.Equal(t, []messages.LockCount{{Path: "/followed", Holders: 0, Waiters: 1, Permits: 1}}, tree.Locks)
	scene.GiveBack(t, lease)
}
