package kinds

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestQueuesOfOneLockPath do not meet, in any kinds of locks. A recipe's node without a GUID is waited for in its queue.
func TestQueuesOfOneLockPath(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		one, two, o := at.Open(t), at.Open(t), scene.Look(t, at)
		named := func(kind scene.Kind, name string) scene.Kind { return kind.With(locks.WithName(name)) }
		var held []*locks.Lease
		for _, queue := range []scene.Kind{
			scene.Exclusive, named(scene.Exclusive, "orders"), named(scene.Exclusive, "order"), named(scene.Writer, "orders-2"),
			named(scene.Exclusive, "a_lock_0000000001"), named(scene.Reader, "rw"), named(scene.Permits(2, 2), "permits"),
		} {
			held = append(held, scene.Locked(t, locks.Try(queue(one, "/dir")).Lock))
		}
		scene.Exclusive.Fails(t, two, "/dir")
		named(scene.Exclusive, "order").Fails(t, two, "/dir")
		scene.GiveBack(t, held...)

		theirs, err := o.Create(at.Root()+"/dir/orders_lock_", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		scene.GiveBack(t, scene.Locked(t, locks.Try(named(scene.Exclusive, "bills")(one, "/dir")).Lock))
		waiting := named(scene.Reader, "orders").Waits(t, one, "/dir")
		require.NoError(t, o.Delete(theirs, -1))
		require.Contains(t, waiting.Passes(t).Node(), "-orders_read_")
		scene.AwaitNone(t, at, "/dir")
	})
}

// TestBadNames are refused before anything is sent, with the name and the rule.
func TestBadNames(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	for name, says := range map[string]string{
		"a/b": "slash", "/": "slash", "a\x00b": "NUL", "_c_mine": "_c_", strings.Repeat("n", 256): "255", "a\x01": "",
	} {
		for _, kind := range []scene.Kind{scene.Exclusive, scene.Reader, scene.Permits(1, 1)} {
			_, err := kind(client, "/bad", locks.WithName(name)).Lock(scene.Deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire, "%q", name)
			require.ErrorContains(t, err, says)
		}
	}
	_, err := client.Mutex("/bad", locks.WithNaming(messages.Naming(99))).Lock(scene.Deadline(t))
	require.ErrorIs(t, err, actors.ErrBadAcquire)
	require.Empty(t, zk.Children(t, zk.Raw(t), ""))
	scene.GiveBack(t, scene.Locked(t, client.Mutex("/good", locks.WithName(strings.Repeat("n", 255))).TryLock))
}

// TestNamings: what nodes are called under each.
func TestNamings(t *testing.T) {
	const uuid, hex = `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, `[0-9a-f]{32}`
	client := scene.OnEmbedded(t).Open(t)
	for naming, names := range map[messages.Naming][3]string{
		messages.CuratorNaming: {"_c_" + uuid + "-lock-", "_c_" + uuid + "-__READ__", "_c_" + uuid + "-__WRIT__"},
		messages.KazooNaming:   {hex + "__lock__", hex + "__rlock__", hex + "__lock__"},
		messages.RecipeNaming:  {uuid + "-lock-", uuid + "-read-", uuid + "-write-"},
	} {
		for i, kind := range []scene.Kind{scene.Exclusive, scene.Reader, scene.Writer} {
			lease := kind.With(locks.WithNaming(naming)).Holds(t, client, "/names")
			require.Regexp(t, "^"+names[i]+`\d{10}$`, lease.Node())
			scene.GiveBack(t, lease)
		}
	}
}
