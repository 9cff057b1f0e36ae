package queues

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// told is a listener for WithOnChange.
type told chan locks.Change

func (c told) option() locks.LockOption {
	return locks.WithOnChange(func(change locks.Change) { c <- change })
}

// waits gives the next change, which says behind whom the Lock waits.
func (c told) waits(t *testing.T) messages.Contender {
	t.Helper()
	change := patient.Receive(t, c)
	require.Equal(t, locks.Waiting, change.Kind)
	require.Nil(t, change.Lease)
	return change.Behind
}

// TestWaitingSaysBehindWhom: for each kind of lock, behind another client and behind the same, the contender is as the queue
// shows it. Nothing is told of a Lock that need not wait.
func TestWaitingSaysBehindWhom(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := at.Open(t), at.Open(t)
		label := locks.WithLabel("nightly run")
		for name, c := range map[string]struct {
			holder locks.Locker
			waiter func(...locks.LockOption) locks.Locker
		}{
			"a mutex":      {other.Mutex("/a", label), func(o ...locks.LockOption) locks.Locker { return client.Mutex("/a", o...) }},
			"this client":  {client.Mutex("/b", label), func(o ...locks.LockOption) locks.Locker { return client.Mutex("/b", o...) }},
			"a contest":    {other.Contest("/c", label), func(o ...locks.LockOption) locks.Locker { return client.Contest("/c", o...) }},
			"a reader":     {other.RWMutex("/d", label).Reader(), func(o ...locks.LockOption) locks.Locker { return client.RWMutex("/d", o...) }},
			"a writer":     {other.RWMutex("/e", label), func(o ...locks.LockOption) locks.Locker { return client.RWMutex("/e", o...).Reader() }},
			"permits":      {other.Semaphore("/f", 2, label).Weight(2), func(o ...locks.LockOption) locks.Locker { return client.Semaphore("/f", 2, o...).Weight(1) }},
			"kazoo's name": {other.Mutex("/g", label, locks.WithNaming(messages.KazooNaming)), func(o ...locks.LockOption) locks.Locker { return client.Mutex("/g", o...) }},
		} {
			t.Run(name, func(t *testing.T) {
				changes := make(told, 16)
				lease := patient.Locked(t, c.holder.Lock)
				got := patient.Elsewhere(patient.Deadline(t), c.waiter(changes.option()).Lock)
				behind := changes.waits(t)
				shown := patient.QueueOf(t, other, lease.Path())[0]
				require.Equal(t, "nightly run", behind.Label)
				require.Equal(t, os.Getpid(), behind.PID)
				require.Equal(t, lease.Token(), behind.Token)
				shown.Holds = false // which the waiter does not know
				shown.Since, shown.Actor, shown.Who = behind.Since, behind.Actor, behind.Who
				require.Equal(t, shown, behind)
				patient.GiveBack(t, lease)
				patient.GiveBack(t, patient.Receive(t, got).Lease)
				patient.GiveBack(t, patient.Locked(t, c.waiter(changes.option()).Lock))
				require.Empty(t, changes)
			})
		}
	})
}

// TestWaitingIsToldAnew: when another contender is before the Lock, and when somebody asks that one for the lock. One may ask
// just the contender that was told.
func TestWaitingIsToldAnew(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, three := at.Open(t), at.Open(t), at.Open(t)
		held := patient.Locked(t, one.Mutex("/anew", locks.WithLabel("holder")).Lock)
		ctx, leave := context.WithCancel(patient.Deadline(t))
		middle := patient.Elsewhere(ctx, two.Mutex("/anew", locks.WithLabel("middle")).Lock)
		stories.AwaitCount(t, at, "/anew", 2)
		changes := make(told, 16)
		got := patient.Elsewhere(patient.Deadline(t), three.Mutex("/anew", changes.option()).Lock)
		require.Equal(t, "middle", changes.waits(t).Label)
		leave()
		require.ErrorIs(t, patient.Receive(t, middle).Err, context.Canceled)
		holder := changes.waits(t)
		require.Equal(t, held.Node(), holder.Node)
		require.False(t, holder.Asked)
		answer, err := three.Session().Ask(patient.Deadline(t), messages.SendRevokeRequest{Path: holder.Path, Of: holder})
		require.NoError(t, err)
		require.Len(t, answer.(*messages.RevokeRequestSent).Asked, 1)
		asked := changes.waits(t)
		require.True(t, asked.Asked)
		require.Equal(t, "holder", asked.Label)
		patient.AwaitAsked(t, held)
		patient.GiveBack(t, held)
		lease := patient.Receive(t, got).Lease
		require.Empty(t, changes, "nothing else has changed")
		patient.GiveBack(t, lease)
	})
}

// TestWaitingForALeader: a candidate is told when the leader proclaims another value.
func TestWaitingForALeader(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		term, err := at.Open(t).Election("/lead").Campaign(patient.Deadline(t), "starting")
		require.NoError(t, err)
		changes := make(told, 16)
		next := at.Open(t).Election("/lead", changes.option())
		ctx, leave := context.WithCancel(patient.Deadline(t))
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, err := next.Campaign(ctx, "next")
			assert.ErrorIs(t, err, context.Canceled)
		}()
		require.Equal(t, "starting", changes.waits(t).Label)
		require.NoError(t, term.Proclaim(patient.Deadline(t), "ready"))
		require.Equal(t, "ready", changes.waits(t).Label)
		leave()
		<-over
		require.NoError(t, term.Resign(patient.Deadline(t)))
	})
}

// TestWaitingInACohort: of calls that wait for one node the first is told who is before that, and the next when the first has
// gone. One that comes later is told of the call of its client that has the node, or asks for it.
func TestWaitingInACohort(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := at.Open(t), at.Open(t)
		held := patient.Locked(t, other.Mutex("/cohort", locks.WithLabel("outside")).Lock)
		lock := func(ctx context.Context) (told, <-chan patient.Answer) {
			changes := make(told, 16)
			return changes, patient.Elsewhere(ctx, client.Mutex("/cohort", changes.option(), locks.WithCohort(9),
				locks.WithLabel("inside")).Lock)
		}
		ctx, leave := context.WithCancel(patient.Deadline(t))
		first, gone := lock(ctx)
		require.Equal(t, "outside", first.waits(t).Label)
		second, got := lock(patient.Deadline(t))
		require.Equal(t, "inside", second.waits(t).Label)
		leave()
		require.ErrorIs(t, patient.Receive(t, gone).Err, context.Canceled)
		ctx, leave = context.WithCancel(patient.Deadline(t))
		next, gone := lock(ctx)
		require.Equal(t, "inside", next.waits(t).Label)
		require.Len(t, second, 1, "it would be told when the predecessor's node is read again, a session timeout later")
		require.Equal(t, held.Node(), second.waits(t).Node)
		leave()
		require.ErrorIs(t, patient.Receive(t, gone).Err, context.Canceled)
		patient.GiveBack(t, held)
		inside := patient.Receive(t, got).Lease
		third, later := lock(patient.Deadline(t))
		behind := third.waits(t)
		require.Equal(t, "inside", behind.Label)
		require.Equal(t, inside.Node(), behind.Node)
		patient.GiveBack(t, inside)
		patient.GiveBack(t, patient.Receive(t, later).Lease)
		require.Empty(t, slices.Concat(drain(first), drain(second), drain(next), drain(third)))
	})
}

func drain(changes told) (all []locks.Change) {
	for len(changes) > 0 {
		all = append(all, <-changes)
	}
	return all
}

// TestBehindIsANotice: the observers of a lock actor are told, also one that comes late.
func TestBehindIsANotice(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two := at.Open(t), at.Open(t)
		held := patient.Locked(t, one.Mutex("/notice", locks.WithLabel("holder")).Lock)
		rec := patient.Recorder(t, two)
		ctx, leave := context.WithCancel(patient.Deadline(t))
		got := patient.Elsewhere(ctx, two.Mutex("/notice", patient.ObservedBy(rec)).Lock)
		behind, err := actorstest.AwaitNotice[*messages.Behind](patient.Deadline(t), rec)
		require.NoError(t, err)
		require.Equal(t, patient.Await(t, rec, messages.StateWatching).Grant, behind.Grant)
		require.Equal(t, "holder", behind.Contender.Label)
		require.Equal(t, held.Token(), behind.Contender.Token)
		_, err = one.Revoke(patient.Deadline(t), "/notice")
		require.NoError(t, err)
		_, err = actorstest.AwaitNotice(patient.Deadline(t), rec, func(b *messages.Behind) bool { return b.Contender.Asked })
		require.NoError(t, err)
		leave()
		require.ErrorIs(t, patient.Receive(t, got).Err, context.Canceled)
		_, err = actorstest.AwaitNotice[*messages.Cancelled](patient.Deadline(t), rec)
		require.NoError(t, err)
		require.Len(t, rec.Notices(), 3)
		patient.GiveBack(t, held)
	})
}

// TestWaitingIsNotToldAfterTheAnswer: a callback that takes long delays those behind it. A Lock that holds by then waits for
// nobody any more.
func TestWaitingIsNotToldAfterTheAnswer(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := at.Open(t), at.Open(t)
		first, second := patient.Locked(t, other.Mutex("/first").Lock), patient.Locked(t, other.Mutex("/second").Lock)
		slow, begun := make(chan struct{}), make(chan struct{})
		waits := patient.Elsewhere(patient.Deadline(t), client.Mutex("/first", locks.WithOnChange(func(locks.Change) {
			close(begun)
			<-slow
		})).Lock)
		patient.Receive(t, begun)
		changes, rec := make(told, 16), patient.Recorder(t, client)
		got := patient.Elsewhere(patient.Deadline(t), client.Mutex("/second", changes.option(), patient.ObservedBy(rec)).Lock)
		_, err := actorstest.AwaitNotice[*messages.Behind](patient.Deadline(t), rec)
		require.NoError(t, err)
		patient.GiveBack(t, second)
		patient.GiveBack(t, patient.Receive(t, got).Lease)
		close(slow)
		patient.GiveBack(t, first)
		patient.GiveBack(t, patient.Receive(t, waits).Lease)
		third := patient.Locked(t, other.Mutex("/third").Lock)
		last := patient.Elsewhere(patient.Deadline(t), client.Mutex("/third", changes.option()).Lock)
		require.Equal(t, "/third", changes.waits(t).Path, "it is behind what was queued before")
		patient.GiveBack(t, third)
		patient.GiveBack(t, patient.Receive(t, last).Lease)
	})
}

// TestAskedWaiterForPermits: somebody who asks a waiter for permits that it does not have writes to its node, as a holder does.
func TestAskedWaiterForPermits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := at.Open(t), at.Open(t)
		held := patient.Locked(t, other.Semaphore("/permits", 1).Weight(1).Lock)
		got := patient.Elsewhere(patient.Deadline(t), client.Semaphore("/permits", 1).Weight(1).Lock)
		stories.AwaitCount(t, at, "/permits", 2)
		waiter := patient.QueueOf(t, other, "/permits")[1]
		_, err := other.Session().Ask(patient.Deadline(t), messages.SendRevokeRequest{Path: "/permits", Of: waiter})
		require.NoError(t, err)
		waiter = patient.QueueOf(t, other, "/permits")[1]
		require.True(t, waiter.Asked)
		require.False(t, waiter.Holds)
		require.Equal(t, []string{held.Node()}, waiter.WaitsFor)
		patient.GiveBack(t, held)
		patient.GiveBack(t, patient.Receive(t, got).Lease)
	})
}
