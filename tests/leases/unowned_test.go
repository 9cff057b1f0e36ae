package leases

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// comesBack makes a node of the client's session that none of its requests owns, at the head of a queue, as restored
// servers do. It has the name of a contender that has gone.
func comesBack(t *testing.T, client *locks.Client, node string) {
	t.Helper()
	lease := bubble.Locked(t, client.Mutex("/setup").Lock)
	op := locks.Create(node, nil)
	op.Ephemeral = true
	_, err := lease.Txn(t.Context(), op)
	require.NoError(t, err)
	bubble.GiveBack(t, lease)
}

// TestUnownedNodeIsRemoved: a request that waits for a node of its own session that no request owns
// removes it: at once where that node is its predecessor, and when it looks again where others are
// between. Others' nodes stay.
func TestUnownedNodeIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		bubble.Cycle(t, client, "/x") // the numbers have gone on
		comesBack(t, client, "/x/_c_gone-lock-0000000000")
		begun := time.Now()
		lease := bubble.Locked(t, client.Mutex("/x").Lock)
		require.Less(t, time.Since(begun), time.Second)
		synctest.Wait()
		require.EqualValues(t, 1, client.Session().Counters().Unowned)

		comesBack(t, client, "/x/_c_gone-lock-0000000000")
		between := patient.Elsewhere(t.Context(), other.Mutex("/x").Lock)
		time.Sleep(time.Second)
		second := patient.Elsewhere(t.Context(), other.Mutex("/x").Lock)
		time.Sleep(time.Second)
		last := patient.Elsewhere(t.Context(), client.Mutex("/x").Lock)
		time.Sleep(time.Second)
		bubble.GiveBack(t, lease)
		for _, next := range []<-chan patient.Answer{between, second, last} {
			got := <-next
			require.NoError(t, got.Err)
			bubble.GiveBack(t, got.Lease)
		}
		synctest.Wait()
		require.EqualValues(t, 2, client.Session().Counters().Unowned)
		require.Zero(t, other.Session().Counters().Unowned)

		comesBack(t, client, "/x/_c_gone-lock-0000000000") // it is another session's for others
		waits := patient.Elsewhere(t.Context(), other.Mutex("/x").Lock)
		time.Sleep(5 * time.Minute)
		require.Empty(t, waits)
		require.Zero(t, other.Session().Counters().Unowned)
		mine := patient.Elsewhere(t.Context(), client.Mutex("/x").Lock)
		for _, next := range []<-chan patient.Answer{waits, mine} {
			got := <-next
			require.NoError(t, got.Err)
			bubble.GiveBack(t, got.Lease)
		}
		synctest.Wait()
		require.EqualValues(t, 3, client.Session().Counters().Unowned)
	})
}

// TestUnownedNodeOfContest: the one node of a contest is removed, too.
func TestUnownedNodeOfContest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		comesBack(t, client, "/contest")
		lease := bubble.Locked(t, client.Contest("/contest").Lock)
		synctest.Wait()
		require.EqualValues(t, 1, client.Session().Counters().Unowned)
		bubble.GiveBack(t, lease)
	})
}

// TestOwnedNodesStay: nodes that requests own are never taken for unowned ones, in any kind of
// lock.
func TestOwnedNodesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		for _, naming := range []messages.Naming{messages.CuratorNaming, messages.KazooNaming, messages.RecipeNaming} {
			var all []<-chan patient.Answer
			for range 5 {
				for _, c := range []*locks.Client{client, other} {
					all = append(all, patient.Elsewhere(t.Context(), c.Mutex("/x", locks.WithNaming(naming)).Lock))
				}
			}
			for len(all) > 0 {
				time.Sleep(30 * time.Second) // they look again
				for i, next := range all {
					if len(next) > 0 {
						got := <-next
						require.NoError(t, got.Err)
						bubble.GiveBack(t, got.Lease)
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
