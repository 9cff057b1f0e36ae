package leases

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// comesBack makes nodes of the client's session that none of its requests owns any more, as restored servers do.
func comesBack(t *testing.T, client *locks.Client, nodes ...string) {
	t.Helper()
	lease := scene.Locked(t, client.Mutex("/setup").Lock)
	var ops []locks.Op
	for _, node := range nodes {
		op := locks.Create(node, nil)
		op.Ephemeral = true
		ops = append(ops, op)
	}
	_, err := lease.Txn(t.Context(), ops...)
	require.NoError(t, err)
	scene.GiveBack(t, lease)
}

// TestUnownedNodeIsRemoved: a request that waits for a node of its own session that no request owns
// removes it: at once where that node is its predecessor, and when it looks again where others are
// between. Others' nodes stay.
func TestUnownedNodeIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		first := scene.Locked(t, client.Mutex("/x").Lock)
		gone := "/x/" + first.Node()
		scene.GiveBack(t, first) // the numbers have gone on
		comesBack(t, client, gone)
		begun := time.Now()
		lease := scene.Locked(t, client.Mutex("/x").Lock)
		require.Less(t, time.Since(begun), time.Second)
		synctest.Wait()
		require.EqualValues(t, 1, client.Session().Counters().Unowned)

		comesBack(t, client, gone)
		between := scene.Elsewhere(t.Context(), other.Mutex("/x").Lock)
		time.Sleep(time.Second)
		second := scene.Elsewhere(t.Context(), other.Mutex("/x").Lock)
		time.Sleep(time.Second)
		last := scene.Elsewhere(t.Context(), client.Mutex("/x").Lock)
		time.Sleep(time.Second)
		scene.GiveBack(t, lease)
		for _, next := range []<-chan scene.Answer{between, second, last} {
			got := <-next
			require.NoError(t, got.Err)
			scene.GiveBack(t, got.Lease)
		}
		synctest.Wait()
		require.EqualValues(t, 2, client.Session().Counters().Unowned)
		require.Zero(t, other.Session().Counters().Unowned)

		comesBack(t, client, gone) // it is another session's for others
		waits := scene.Elsewhere(t.Context(), other.Mutex("/x").Lock)
		time.Sleep(5 * time.Minute)
		require.Empty(t, waits)
		require.Zero(t, other.Session().Counters().Unowned)
		mine := scene.Elsewhere(t.Context(), client.Mutex("/x").Lock)
		for _, next := range []<-chan scene.Answer{waits, mine} {
			got := <-next
			require.NoError(t, got.Err)
			scene.GiveBack(t, got.Lease)
		}
		synctest.Wait()
		require.EqualValues(t, 3, client.Session().Counters().Unowned)
	})
}

// TestUnownedNodeOfContest: the one node of a contest is removed, too.
func TestUnownedNodeOfContest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		lease := scene.Locked(t, client.Contest("/contest").Lock)
		data, _, err := lease.Get(t.Context(), "/contest")
		require.NoError(t, err)
		scene.GiveBack(t, lease)
		owner, _ := queue.ParseOwner(data)
		comesBack(t, client, "/contest", "/"+owner.Guard)
		lease = scene.Locked(t, client.Contest("/contest").Lock) // it looks again after a session timeout
		synctest.Wait()
		require.EqualValues(t, 1, client.Session().Counters().Unowned)
		scene.GiveBack(t, lease)
	})
}

// TestOwnedNodesStay: nodes that requests own are never taken for unowned ones, whatever they are called.
func TestOwnedNodesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		for _, naming := range []messages.Naming{messages.CuratorNaming, messages.KazooNaming, messages.RecipeNaming} {
			var all []<-chan scene.Answer
			for range 5 {
				for _, c := range []*locks.Client{client, other} {
					all = append(all, scene.Elsewhere(t.Context(), c.Mutex("/x", locks.WithNaming(naming)).Lock))
				}
			}
			for len(all) > 0 {
				time.Sleep(30 * time.Second) // they look again
				for i, next := range all {
					if len(next) > 0 {
						got := <-next
						require.NoError(t, got.Err)
						scene.GiveBack(t, got.Lease)
						all = append(all[:i:i], all[i+1:]...)
						break
					}
				}
			}
		}
		require.Zero(t, client.Session().Counters().Unowned)
		require.Zero(t, other.Session().Counters().Unowned)
	})
}
