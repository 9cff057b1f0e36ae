package tests

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// place is a node that holders write under a lock.
const place = "/value"

// writePlace makes the node under a lock of another name.
func writePlace(t *testing.T, client *locks.Client) {
	t.Helper()
	lease, err := client.Mutex("/setup").Lock(t.Context())
	require.NoError(t, err)
	_, err = lease.Txn(t.Context(), locks.Create(place, []byte("first")))
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(t.Context()))
}

// swap writes the place at a version.
func swap(ctx context.Context, lease *locks.Lease, to string, version int32) error {
	_, err := lease.Txn(ctx, locks.Set(place, []byte(to), version))
	return err
}

// requireAt finds the version of the place, and so how often it was written.
func requireAt(t *testing.T, client *locks.Client, version int32) {
	t.Helper()
	lease, err := client.Mutex("/setup").Lock(t.Context())
	require.NoError(t, err)
	_, err = lease.Txn(t.Context(), locks.Check(place, version))
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(t.Context()))
}

// TestStaleTxnArrivesLate: a transaction has left while the lock was held, and reaches the servers when somebody else
// holds and has written. They refuse it.
func TestStaleTxnArrivesLate(t *testing.T) {
	for _, any := range []bool{false, true} {
		t.Run(fmt.Sprint("any version ", any), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second), embedded.WithReplicas(3))
				slow := server.Replica(2)
				require.NotEqual(t, slow, server.Leader())
				mine := openVirtual(t, server, slow.Addr())
				others := openVirtual(t, server, server.Addr())
				writePlace(t, others)
				lease, err := mine.Mutex("/lock").Lock(t.Context())
				require.NoError(t, err)
				time.Sleep(time.Minute)
				slow.HoldRequests()
				version := int32(0)
				if any {
					version = locks.AnyVersion
				}
				answer := make(chan error, 1)
				go func() { answer <- swap(context.WithoutCancel(t.Context()), lease, "stale", version) }()
				time.Sleep(time.Millisecond)
				queue, err := others.Queue(t.Context(), "/lock")
				require.NoError(t, err)
				require.NoError(t, others.Break(t.Context(), queue[0]))
				next, err := others.Mutex("/lock").Lock(t.Context())
				require.NoError(t, err)
				require.NoError(t, swap(t.Context(), next, "second", 0))
				require.Empty(t, answer)
				slow.ReleaseRequests()
				require.ErrorIs(t, <-answer, locks.ErrLost)
				requireAt(t, others, 1)
				require.NoError(t, next.Unlock(t.Context()))
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

// TestLockIsGivenBackBehindTxns: a node that is passed on within a client, or reused, never guards a transaction of the
// hold before. Whoever holds next, here or elsewhere, holds when that has been carried out.
func TestLockIsGivenBackBehindTxns(t *testing.T) {
	for name, opts := range passedOn {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
				client := openVirtual(t, server, server.Connect())
				writePlace(t, client)
				mutex := client.Mutex("/lock", opts...)
				lease, err := mutex.Lock(t.Context())
				require.NoError(t, err)
				waiter := elsewhere(t.Context(), mutex.Lock)
				time.Sleep(time.Minute + 5*time.Second) // and not when the waiter looks again
				server.Leader().HoldRequests()
				answer := make(chan error, 1)
				go func() { answer <- swap(context.WithoutCancel(t.Context()), lease, "of the first", 0) }()
				time.Sleep(time.Millisecond)
				lease.Release()
				require.False(t, lease.Valid())
				time.Sleep(time.Second)
				require.Empty(t, waiter, "the transaction is under way")
				require.Empty(t, answer)
				server.Leader().ReleaseRequests()
				require.NoError(t, <-answer)
				next := receive(t, waiter)
				require.NoError(t, next.err)
				require.NoError(t, swap(t.Context(), next.lease, "of the second", 1))
				require.ErrorIs(t, swap(t.Context(), lease, "stale", 2), locks.ErrReleased)
				requireAt(t, client, 2)
				require.NoError(t, next.lease.Unlock(t.Context()))
			})
		})
	}
}

// TestTxnAfterTheLease: the connection is down until the lease is over, or the session has expired: nothing is sent, also
// where the node still exists at the servers.
func TestTxnAfterTheLease(t *testing.T) {
	for name, length := range map[string]time.Duration{"the session lives": 6 * time.Second, "it has expired": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
				d := &outageDialer{server: server}
				client, others := openThrough(t, server, d), openVirtual(t, server, server.Connect())
				writePlace(t, others)
				lease, err := client.Mutex("/lock").Lock(t.Context())
				require.NoError(t, err)
				time.Sleep(time.Minute)
				answer := make(chan error, 1)
				go func() {
					time.Sleep(time.Millisecond)
					answer <- swap(context.WithoutCancel(t.Context()), lease, "stale", 0)
				}()
				d.outage(length)
				require.ErrorIs(t, <-answer, locks.ErrLost)
				require.ErrorIs(t, swap(t.Context(), lease, "stale", 0), locks.ErrLost)
				requireAt(t, others, 0)
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
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
				d := &outageDialer{server: server}
				client, others := openThrough(t, server, d), openVirtual(t, server, server.Connect())
				writePlace(t, others)
				lease, err := client.Mutex("/lock").Lock(t.Context())
				require.NoError(t, err)
				time.Sleep(time.Minute)
				fault, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: place, Action: c.action})
				require.NoError(t, err)
				d.refuse(true) // or the client may be back, and read what came of it, before its session is ended
				answer := make(chan error, 1)
				go func() { answer <- swap(context.WithoutCancel(t.Context()), lease, "mine", 0) }()
				require.NoError(t, fault.Wait(t.Context()))
				require.NoError(t, server.Expire(lease.Session()))
				d.refuse(false)
				require.ErrorIs(t, <-answer, c.want)
				requireAt(t, others, c.version)
			})
		})
	}
}

// TestTxnIsAnsweredAfterItsHold: the hold ends by order while a transaction is under way, and the context that it was
// called with ends too. It was carried out while the lock was held, and says so.
func TestTxnIsAnsweredAfterItsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client := openVirtual(t, server, server.Connect())
		writePlace(t, client)
		var answer error
		err := locks.Do(t.Context(), client.Mutex("/lock", locks.WithMaxHold(65*time.Second)),
			func(ctx context.Context, _ locks.Token) error {
				time.Sleep(65*time.Second - 10*time.Millisecond)
				server.Leader().HoldRequests()
				go func() {
					time.Sleep(50 * time.Millisecond)
					server.Leader().ReleaseRequests()
				}()
				answer = swap(ctx, locks.LeaseOf(ctx), "in time", 0)
				return answer
			})
		require.ErrorIs(t, err, locks.ErrMaxHold)
		require.NoError(t, answer)
		requireAt(t, client, 1)
		require.Nil(t, locks.LeaseOf(t.Context()))
	})
}

// TestTxnsOfOneLeaseFollowEachOther, in any number, and all are carried out.
func TestTxnsOfOneLeaseFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client := openVirtual(t, server, server.Connect())
		writePlace(t, client)
		lease, err := client.Mutex("/lock").Lock(t.Context())
		require.NoError(t, err)
		const all = 20
		answers := make(chan error, all)
		for range all {
			go func() { answers <- swap(context.WithoutCancel(t.Context()), lease, "one", locks.AnyVersion) }()
		}
		for range all {
			require.NoError(t, <-answers)
		}
		requireAt(t, client, all)
		require.NoError(t, lease.Unlock(t.Context()))
	})
}
