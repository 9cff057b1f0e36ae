package refusals

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// weight is that of a contender's node of /a, and of any other path of two characters.
const weight = 4 + len("/a/_c_01234567-0123-0123-0123-0123456789ab-lock-0123456789")

// requireNone finds that nobody is left at some paths, nor a node of the session.
func requireNone(t *testing.T, client *locks.Client, paths ...string) {
	t.Helper()
	synctest.Wait()
	for _, path := range paths {
		require.Empty(t, scene.QueueOf(t, client, path))
	}
	require.Zero(t, client.State().NodeBytes)
}

// TestCrowdStandsInLine: of one queue a session has no more nodes that wait than it may have. The others wait inside it,
// and get the lock in their turn.
func TestCrowdStandsInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd, nodes = 40, 4
		client := scene.Client(t, scene.Virtual(t), locks.WithMaxWaiting(nodes))
		mutex := client.Mutex("/a")
		first := scene.Locked(t, mutex.Lock)
		var all sync.WaitGroup
		for range crowd {
			all.Go(func() {
				lease, err := mutex.Lock(t.Context())
				if assert.NoError(t, err) {
					assert.NoError(t, lease.Unlock(t.Context()))
				}
			})
		}
		synctest.Wait()
		has, queue := client.State(), scene.QueueOf(t, client, "/a")
		require.Equal(t, 1+crowd, has.Inside+len(queue))
		require.Equal(t, has.NodeBytes, len(queue)*weight)
		require.GreaterOrEqual(t, has.Inside, crowd-nodes)
		require.LessOrEqual(t, has.Inside, crowd-nodes/2, "those in line get nodes when half of the waiting nodes have gone")
		scene.GiveBack(t, first)
		all.Wait()
		require.Zero(t, client.State().Inside)
		requireNone(t, client, "/a")
	})
}

// TestWaitsInsideBehind: the error of a request that gives up inside says behind whom it waited: the last node of its
// session.
func TestWaitsInsideBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t), locks.WithMaxWaiting(1))
		lock := client.Mutex("/a").Lock
		lease, waits := scene.Locked(t, lock), scene.Elsewhere(t.Context(), lock)
		synctest.Wait()
		ctx, giveUp := context.WithCancel(t.Context())
		inside := scene.Elsewhere(ctx, lock)
		synctest.Wait()
		require.Equal(t, 1, client.State().Inside)
		giveUp()
		err := scene.Receive(t, inside).Err
		require.ErrorIs(t, err, context.Canceled)
		var of *locks.Error
		require.ErrorAs(t, err, &of)
		require.Equal(t, scene.QueueOf(t, client, "/a")[1].Node, of.Behind.Node)
		scene.GiveBack(t, lease)
		scene.GiveBack(t, scene.Receive(t, waits).Lease)
	})
}

// TestTriesBeyondTheBound: a reader that only tries is not refused for want of a node, unless a
// writer of its session is before it. Nor is a request for a permit, unless one before it does not
// get one.
func TestTriesBeyondTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t), locks.WithMaxWaiting(16))
		const crowd = 300
		rw, permits := client.RWMutex("/a"), client.Semaphore("/b", crowd)
		tries := func(try func(context.Context) (*locks.Lease, error)) (all []scene.Answer) {
			var got []<-chan scene.Answer
			for range crowd {
				got = append(got, scene.Elsewhere(t.Context(), try))
			}
			for _, a := range got {
				all = append(all, scene.Receive(t, a))
			}
			return all
		}
		for _, a := range append(tries(rw.TryRLock), tries(locks.Try(permits.Weight(1)).Lock)...) {
			require.NoError(t, a.Err)
			a.Lease.Release()
		}
		synctest.Wait()
		writer := scene.Locked(t, rw.Lock)
		for _, a := range tries(rw.TryRLock) {
			require.ErrorIs(t, a.Err, locks.ErrNotAcquired)
		}
		scene.GiveBack(t, writer)
		requireNone(t, client, "/a", "/b")
	})
}

// TestSessionFull: where all nodes of a session weigh as much as they may, a lock that needs a node is
// refused, also behind a holder of the session. Kept holds that nobody uses are given back before.
func TestSessionFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t), locks.WithMaxNodeBytes(2*weight))
		full := func(path string) {
			_, err := client.Mutex(path).Lock(t.Context())
			require.ErrorIs(t, err, locks.ErrSessionFull)
			require.True(t, locks.MayPass(err))
			require.ErrorContains(t, err, fmt.Sprint(client.State().MaxNodeBytes))
		}
		for _, path := range []string{"/r", "/s", "/t"} { // the third has the first given up
			scene.GiveBack(t, scene.Locked(t, client.Mutex(path, locks.WithSticky(time.Hour)).Lock))
		}
		a, b := scene.Locked(t, client.Mutex("/a").Lock), scene.Locked(t, client.Mutex("/b").Lock)
		for _, path := range []string{"/r", "/s", "/t"} {
			require.Empty(t, scene.QueueOf(t, client, path))
		}
		full("/c")
		full("/d")
		_, err := client.Mutex("/a").TryLock(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		full("/a")
		scene.GiveBack(t, b)
		second := scene.Elsewhere(t.Context(), client.Mutex("/a").Lock)
		synctest.Wait()
		full("/c")
		scene.GiveBack(t, a)
		got := scene.Receive(t, second)
		require.NoError(t, got.Err)
		synctest.Wait()
		require.Equal(t, weight, client.State().NodeBytes, "the first's node is gone")
		scene.GiveBack(t, scene.Locked(t, client.Mutex("/c").Lock), got.Lease)
	})
}

// TestAllIsRefused: a session in which the second lock never has room refuses all, after a few tries with pauses between
// them, and holds nothing.
func TestAllIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t), locks.WithMaxNodeBytes(weight))
		first, rec := scene.Recorded(t, client, "/a")
		begun := time.Now()
		_, err := locks.All(t.Context(), first, client.Mutex("/b"))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.True(t, locks.MayPass(err))
		require.NotZero(t, time.Since(begun))
		synctest.Wait()
		held := slices.DeleteFunc(rec.States(), func(state messages.State) bool { return state != messages.StateHeld })
		require.Len(t, held, 6, "it has had the first so often")
		requireNone(t, client, "/a", "/b")
	})
}

// TestTransactionsWeigh: ephemeral nodes of transactions weigh as those of locks do, until they are deleted.
func TestTransactionsWeigh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t), locks.WithMaxNodeBytes(weight+4+len("/mine-0123456789")))
		lease := scene.Locked(t, client.Mutex("/a").Lock)
		mine := locks.CreateSequential("/mine-", nil)
		mine.Ephemeral = true
		made, err := lease.Txn(t.Context(), mine)
		require.NoError(t, err)
		_, err = lease.Txn(t.Context(), mine)
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.True(t, locks.MayPass(err))
		require.True(t, lease.Valid())
		for _, op := range []locks.Op{locks.CreateSequential("/theirs-", nil), // what outlives the session weighs nothing
			locks.Delete(made[0].Path, locks.AnyVersion), mine} {
			_, err = lease.Txn(t.Context(), op)
			require.NoError(t, err)
		}
		require.Equal(t, client.State().MaxNodeBytes, client.State().NodeBytes)
		scene.GiveBack(t, lease)
	})
}

// TestLabelsThatGrow: labels of which JSON makes six times as many bytes, of many who come together, cut nobody's
// connection.
func TestLabelsThatGrow(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		var dials atomic.Int32
		client := at.Open(t, locks.WithMaxWaiting(512),
			locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return new(net.Dialer).DialContext(ctx, network, address)
			}))
		mutex := client.Mutex("/labels", locks.WithLabel(strings.Repeat("<", 1024)))
		scene.Locked(t, mutex.Lock)
		before := dials.Load()
		const waiters = 400
		for range waiters {
			scene.Elsewhere(scene.Deadline(t), mutex.Lock)
		}
		scene.Eventually(t, func() bool {
			queue, err := client.Queue(scene.Deadline(t), "/labels")
			return err == nil && len(queue) == 1+waiters
		}, "all queue")
		require.Equal(t, before, dials.Load())
	})
}
