package kinds

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestQueuesOfOneLockPath do not meet, in any kinds of locks. A recipe's node without a GUID is waited for in its queue.
func TestQueuesOfOneLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, o := at.Open(t), at.Open(t), stories.Look(t, at)
		named := func(kind patient.Kind, name string) patient.Kind { return kind.With(locks.WithName(name)) }
		var held []*locks.Lease
		for _, queue := range []patient.Kind{
			patient.Exclusive, named(patient.Exclusive, "orders"), named(patient.Exclusive, "order"), named(patient.Writer, "orders-2"),
			named(patient.Exclusive, "a_lock_0000000001"), named(patient.Reader, "rw"), named(patient.Permits(2, 2), "permits"),
		} {
			held = append(held, patient.Locked(t, locks.Try(queue(one, "/dir")).Lock))
		}
		patient.Exclusive.Fails(t, two, "/dir")
		named(patient.Exclusive, "order").Fails(t, two, "/dir")
		patient.GiveBack(t, held...)

		theirs, err := o.Create(at.Root()+"/dir/orders_lock_", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		patient.GiveBack(t, patient.Locked(t, locks.Try(named(patient.Exclusive, "bills")(one, "/dir")).Lock))
		waiting := named(patient.Reader, "orders").Waits(t, one, "/dir")
		require.NoError(t, o.Delete(theirs, -1))
		require.Contains(t, waiting.Passes(t).Node(), "-orders_read_")
		stories.AwaitNone(t, at, "/dir")
	})
}

// TestBadNames are refused before anything is sent, with the name and the rule.
func TestBadNames(t *testing.T) {
	zk := stories.OnEmbedded(t)
	client := zk.Open(t)
	for name, says := range map[string]string{
		"a/b": "slash", "/": "slash", "a\x00b": "NUL", "_c_mine": "_c_", strings.Repeat("n", 256): "255", "a\x01": "",
	} {
		for _, kind := range []patient.Kind{patient.Exclusive, patient.Reader, patient.Permits(1, 1)} {
			_, err := kind(client, "/bad", locks.WithName(name)).Lock(patient.Deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire, "%q", name)
			require.ErrorContains(t, err, says)
		}
	}
	_, err := client.Mutex("/bad", locks.WithNaming(messages.Naming(99))).Lock(patient.Deadline(t))
	require.ErrorIs(t, err, actors.ErrBadAcquire)
	require.Empty(t, zk.Children(t, zk.Raw(t), ""))
	patient.GiveBack(t, patient.Locked(t, client.Mutex("/good", locks.WithName(strings.Repeat("n", 255))).TryLock))
}

// TestNamings: what nodes are called under each.
func TestNamings(t *testing.T) {
	const uuid, hex = `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, `[0-9a-f]{32}`
	client := stories.OnEmbedded(t).Open(t)
	for naming, names := range map[messages.Naming][3]string{
		messages.CuratorNaming: {"_c_" + uuid + "-lock-", "_c_" + uuid + "-__READ__", "_c_" + uuid + "-__WRIT__"},
		messages.KazooNaming:   {hex + "__lock__", hex + "__rlock__", hex + "__lock__"},
		messages.RecipeNaming:  {uuid + "-lock-", uuid + "-read-", uuid + "-write-"},
	} {
		for i, kind := range []patient.Kind{patient.Exclusive, patient.Reader, patient.Writer} {
			lease := kind.With(locks.WithNaming(naming)).Holds(t, client, "/names")
			require.Regexp(t, "^"+names[i]+`\d{10}$`, lease.Node())
			patient.GiveBack(t, lease)
		}
	}
}
