package kinds

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestQueuesOfOneLockPath do not meet, in any kinds of locks.
func TestQueuesOfOneLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t)}
		queues := func(c *locks.Client) []func(context.Context) (*locks.Lease, error) {
			return []func(context.Context) (*locks.Lease, error){
				c.Mutex("/dir").TryLock, c.Mutex("/dir", locks.WithName("orders")).TryLock,
				c.Mutex("/dir", locks.WithName("order")).TryLock, c.RWMutex("/dir", locks.WithName("orders-2")).TryLock,
				c.Mutex("/dir", locks.WithName("a_lock_0000000001")).TryLock, c.RWMutex("/dir", locks.WithName("rw")).TryRLock,
				permitsOf(c.Semaphore("/dir", 2, locks.WithName("permits")), 2),
			}
		}
		var held []*locks.Lease
		for i, try := range queues(clients[0]) {
			lease, err := try(patient.Deadline(t))
			require.NoError(t, err, i)
			held = append(held, lease)
		}
		for i, try := range queues(clients[1])[:5] {
			_, err := try(patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrNotAcquired, i)
		}
		for _, lease := range held {
			require.True(t, lease.Valid())
			patient.GiveBack(t, lease)
		}
		stories.AwaitNone(t, zk, "/dir")
	})
}

// TestForeignNodesOfANamedQueue, as recipes make them, without a GUID: they are waited for.
func TestForeignNodesOfANamedQueue(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		o.Plant(t, "/dir", "")
		theirs, err := o.Create(at.Root()+"/dir/orders_lock_", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		_, err = client.Mutex("/dir", locks.WithName("orders")).TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		bills := patient.Locked(t, client.Mutex("/dir", locks.WithName("bills")).TryLock)
		rec := patient.Recorder(t, client)
		waiting := patient.Elsewhere(patient.Deadline(t), client.RWMutex("/dir", locks.WithName("orders"),
			patient.ObservedBy(rec)).RLock)
		patient.Await(t, rec, messages.StateWatching)
		require.NoError(t, o.Delete(theirs, -1))
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.Contains(t, got.Lease.Node(), "-orders_read_")
		patient.GiveBack(t, got.Lease, bills)
	})
}

// TestNumbersOfOtherLengths: no server numbers a child with nine digits, or with eleven. Such a child stays when every
// session has ended, so nobody waits for it.
func TestNumbersOfOtherLengths(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		o.Plant(t, "/dir", "")
		for _, child := range []string{"lock-000000001", "lock-00000000001", "x__lock__00000000002"} {
			_, err := o.Create(at.Root()+"/dir/"+child, nil, 0, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
		}
		lease := patient.Locked(t, client.Mutex("/dir").TryLock)
		queue, err := client.Queue(patient.Deadline(t), "/dir")
		require.NoError(t, err)
		require.Len(t, queue, 1)
		require.True(t, queue[0].Holds)
		patient.GiveBack(t, lease)
	})
}

// TestBadNames are refused before anything is sent, with the name and the rule.
func TestBadNames(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for name, says := range map[string]string{
			"a/b": "slash", "/": "slash", "a\x00b": "NUL", "_c_mine": "_c_", strings.Repeat("n", 256): "255", "a\x01": "",
		} {
			for _, lock := range []func(context.Context) (*locks.Lease, error){
				client.Mutex("/bad", locks.WithName(name)).Lock, client.RWMutex("/bad", locks.WithName(name)).TryRLock,
				permitsOf(client.Semaphore("/bad", 1, locks.WithName(name)), 1),
			} {
				_, err := lock(patient.Deadline(t))
				require.ErrorIs(t, err, actors.ErrBadAcquire, "%q", name)
				require.ErrorContains(t, err, says)
			}
		}
		for _, opts := range [][]locks.LockOption{
			{locks.WithNaming(messages.Naming(99))}, {locks.WithNaming(messages.KazooNaming), locks.WithName("n")},
		} {
			_, err := client.Mutex("/bad", opts...).Lock(patient.Deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""))
		longest := patient.Locked(t, client.Mutex("/good", locks.WithName(strings.Repeat("n", 255))).TryLock)
		patient.GiveBack(t, longest)
	})
}

// TestNamings: what nodes are called under each, and that contenders of all of them respect each other.
func TestNamings(t *testing.T) {
	const uuid, hex = `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, `[0-9a-f]{32}`
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		rw := func(naming messages.Naming) *locks.RWMutex { return client.RWMutex("/names", locks.WithNaming(naming)) }
		m := func(naming messages.Naming) *locks.Mutex { return client.Mutex("/names", locks.WithNaming(naming)) }
		curator, kazoo, recipe := messages.CuratorNaming, messages.KazooNaming, messages.RecipeNaming
		var waiting []<-chan patient.Answer
		for i, c := range []struct {
			lock func(context.Context) (*locks.Lease, error)
			name string
		}{
			{m(curator).Lock, "^_c_" + uuid + `-lock-\d{10}$`}, {rw(curator).RLock, "^_c_" + uuid + `-__READ__\d{10}$`},
			{rw(curator).Lock, "^_c_" + uuid + `-__WRIT__\d{10}$`}, {m(kazoo).Lock, "^" + hex + `__lock__\d{10}$`},
			{rw(kazoo).RLock, "^" + hex + `__rlock__\d{10}$`}, {rw(kazoo).Lock, "^" + hex + `__lock__\d{10}$`},
			{m(recipe).Lock, "^" + uuid + `-lock-\d{10}$`}, {rw(recipe).RLock, "^" + uuid + `-read-\d{10}$`},
			{rw(recipe).Lock, "^" + uuid + `-write-\d{10}$`},
		} {
			waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), c.lock))
			stories.AwaitCount(t, zk, "/names", i+1)
			var mine string
			for _, child := range zk.Children(t, zk.Raw(t), "/names") {
				if n, ok := queue.Sequence(child); ok && int(n) == i {
					mine = child
				}
			}
			require.Regexp(t, c.name, mine)
		}
		last := messages.Token(0)
		for i, next := range waiting {
			got := patient.Receive(t, next)
			require.NoError(t, got.Err)
			require.Greater(t, got.Lease.Token(), last)
			last = got.Lease.Token()
			for _, later := range waiting[i+1:] {
				require.Empty(t, later)
			}
			patient.GiveBack(t, got.Lease)
		}
	})
}
