package txn

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestStaleTxnArrivesLate: a transaction has left while the lock was held, and reaches the servers when somebody else
// holds and has written. They refuse it.
func TestStaleTxnArrivesLate(t *testing.T) {
	for _, any := range []bool{false, true} {
		t.Run(fmt.Sprint("any version ", any), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t, embedded.WithReplicas(3))
				slow := server.Replica(2)
				require.NotEqual(t, slow, server.Leader())
				mine := scene.ClientAt(t, server, slow.Addr())
				others := scene.ClientAt(t, server, server.Addr())
				scene.WritePlace(t, others)
				lease := scene.Locked(t, mine.Mutex("/lock").Lock)
				time.Sleep(time.Minute)
				slow.HoldRequests()
				version := int32(0)
				if any {
					version = locks.AnyVersion
				}
				answer := make(chan error, 1)
				go func() { answer <- scene.Swap(context.WithoutCancel(t.Context()), lease, "stale", version) }()
				time.Sleep(time.Millisecond)
				queue, err := others.Queue(t.Context(), "/lock")
				require.NoError(t, err)
				require.NoError(t, others.Break(t.Context(), queue[0]))
				next := scene.Locked(t, others.Mutex("/lock").Lock)
				require.NoError(t, scene.Swap(t.Context(), next, "second", 0))
				require.Empty(t, answer)
				slow.ReleaseRequests()
				require.ErrorIs(t, <-answer, locks.ErrLost)
				scene.RequireAt(t, others, 1)
				scene.GiveBack(t, next)
			})
		})
	}
}

// passedOn are the ways in which a client gives a lock on from one of its calls to the next without the servers.
var passedOn = map[string][]locks.LockOption{
	"hand-over": nil,
	"sticky":    {locks.WithSticky(time.Hour)},
	"cohort":    {locks.WithCohort(100)},
}

// TestLockIsGivenBackBehindTxns: a node that is passed on within a client, or reused, never guards
// a transaction of the hold before. The next holder, here or elsewhere, holds when that transaction
// has been carried out.
func TestLockIsGivenBackBehindTxns(t *testing.T) {
	for name, opts := range passedOn {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client := scene.Client(t, server)
				scene.WritePlace(t, client)
				mutex := client.Mutex("/lock", opts...)
				lease := scene.Locked(t, mutex.Lock)
				waiter := scene.Elsewhere(t.Context(), mutex.Lock)
				time.Sleep(time.Minute + 5*time.Second) // and not when the waiter looks again
				server.Leader().HoldRequests()
				answer := make(chan error, 1)
				go func() { answer <- scene.Swap(context.WithoutCancel(t.Context()), lease, "of the first", 0) }()
				time.Sleep(time.Millisecond)
				lease.Release()
				require.False(t, lease.Valid())
				time.Sleep(time.Second)
				require.Empty(t, waiter, "the transaction is under way")
				require.Empty(t, answer)
				server.Leader().ReleaseRequests()
				require.NoError(t, <-answer)
				next := scene.Receive(t, waiter)
				require.NoError(t, next.Err)
				require.NoError(t, scene.Swap(t.Context(), next.Lease, "of the second", 1))
				require.ErrorIs(t, scene.Swap(t.Context(), lease, "stale", 2), locks.ErrReleased)
				scene.RequireAt(t, client, 2)
				scene.GiveBack(t, next.Lease)
			})
		})
	}
}

// heldThroughOutages gives a lease of a minute ago, the network between its client and the server,
// and a client that has another one.
func heldThroughOutages(t *testing.T) (*embedded.Server, *scene.Network, *locks.Client, *locks.Lease) {
	t.Helper()
	d, client := scene.Through(t)
	others := scene.Client(t, d.Server)
	scene.WritePlace(t, others)
	lease := scene.Locked(t, client.Mutex("/lock").Lock)
	time.Sleep(time.Minute)
	return d.Server, d, others, lease
}

// TestTxnAfterTheLease: the connection is down until the lease is over, or the session has expired: nothing is sent, also
// where the node still exists at the servers.
func TestTxnAfterTheLease(t *testing.T) {
	for name, length := range map[string]time.Duration{"the session lives": 6 * time.Second, "it has expired": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, d, others, lease := heldThroughOutages(t)
				answer := make(chan error, 1)
				go func() {
					time.Sleep(time.Millisecond)
					answer <- scene.Swap(context.WithoutCancel(t.Context()), lease, "stale", 0)
				}()
				d.Outage(length)
				require.ErrorIs(t, <-answer, locks.ErrLost)
				require.ErrorIs(t, scene.Swap(t.Context(), lease, "stale", 0), locks.ErrLost)
				scene.RequireAt(t, others, 0)
			})
		})
	}
}

// TestReplyToTxnIsLostWithTheSession: what was carried out cannot be told from what a later holder did; what was not
// carried out is known not to have been.
func TestReplyToTxnIsLostWithTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		action  embedded.Action
		want    error
		version int32
	}{
		"carried out": {embedded.CutAfter, locks.ErrUnknownOutcome, 1},
		"never sent":  {embedded.CutBefore, locks.ErrLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, d, others, lease := heldThroughOutages(t)
				fault, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: scene.Place, Action: c.action})
				require.NoError(t, err)
				d.Refuse(true) // or the client may be back, and read what came of it, before its session is ended
				answer := make(chan error, 1)
				go func() { answer <- scene.Swap(context.WithoutCancel(t.Context()), lease, "mine", 0) }()
				require.NoError(t, fault.Wait(t.Context()))
				require.NoError(t, server.Expire(lease.Session()))
				d.Refuse(false)
				require.ErrorIs(t, <-answer, c.want)
				scene.RequireAt(t, others, c.version)
			})
		})
	}
}

// TestTxnIsAnsweredAfterItsHold: the hold ends by order while a transaction is under way, and the context that it was
// called with ends too. It was carried out while the lock was held, and says so.
func TestTxnIsAnsweredAfterItsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		scene.WritePlace(t, client)
		var answer error
		err := locks.Do(t.Context(), client.Mutex("/lock", locks.WithMaxHold(65*time.Second)),
			func(ctx context.Context, _ locks.Token) error {
				time.Sleep(65*time.Second - 10*time.Millisecond)
				server.Leader().HoldRequests()
				go func() {
					time.Sleep(50 * time.Millisecond)
					server.Leader().ReleaseRequests()
				}()
				answer = scene.Swap(ctx, locks.LeaseOf(ctx), "in time", 0)
				return answer
			})
		require.ErrorIs(t, err, locks.ErrMaxHold)
		require.NoError(t, answer)
		scene.RequireAt(t, client, 1)
		require.Nil(t, locks.LeaseOf(t.Context()))
	})
}

// TestTxnsOfOneLeaseFollowEachOther, in any number, and all are carried out.
func TestTxnsOfOneLeaseFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t))
		scene.WritePlace(t, client)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { assert.NoError(t, scene.Swap(t.Context(), lease, "one", locks.AnyVersion)) })
		}
		all.Wait()
		scene.RequireAt(t, client, 20)
		scene.GiveBack(t, lease)
	})
}

// TestTxnThatIsGivenUpLeavesRoom: ctx ends before it is known that a transaction was not carried out. The ephemeral node
// that it was to make takes no room in the session.
func TestTxnThatIsGivenUpLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := scene.Through(t)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		before := client.State().NodeBytes
		mine := locks.CreateSequential("/mine-", nil)
		mine.Ephemeral = true
		fault, err := d.Server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: "/mine-", Action: embedded.CutBefore})
		require.NoError(t, err)
		d.Refuse(true)
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() {
			_, err := lease.Txn(ctx, mine)
			answer <- err
		}()
		require.NoError(t, fault.Wait(t.Context()))
		cancel()
		require.ErrorIs(t, <-answer, locks.ErrUnknownOutcome)
		d.Refuse(false)
		_, _, err = lease.Get(t.Context(), "/lock") // behind all that is done about the transaction
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, before, client.State().NodeBytes)
		scene.GiveBack(t, lease)
	})
}
