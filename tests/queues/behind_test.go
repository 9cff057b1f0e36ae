package queues

import (
	"context"
	"os"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// told is a listener for WithOnChange.
type told chan locks.Change

func newTold() (told, locks.LockOption) {
	c := make(told, 16)
	return c, locks.WithOnChange(func(change locks.Change) { c <- change })
}

// waits gives the next change, which says behind whom the Lock waits.
func (c told) waits(t *testing.T) messages.Contender {
	t.Helper()
	change := scene.Receive(t, c)
	require.Equal(t, locks.Waiting, change.Kind)
	require.Nil(t, change.Lease)
	return change.Behind
}

// TestWaitingSaysBehindWhom: for each kind of lock, behind another client and behind the same, the contender is as the queue
// shows it. Nothing is told of a Lock that need not wait.
func TestWaitingSaysBehindWhom(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		client, other := at.Open(t), at.Open(t)
		for name, c := range map[string]struct {
			holder *locks.Client
			holds  scene.Kind
			waits  scene.Kind
		}{
			"mutex":       {other, scene.Exclusive, scene.Exclusive},
			"this-client": {client, scene.Exclusive, scene.Exclusive},
			"contest":     {other, scene.Contest, scene.Contest},
			"reader":      {other, scene.Reader, scene.Writer},
			"writer":      {other, scene.Writer, scene.Reader},
			"permits":     {other, scene.Permits(2, 2), scene.Permits(1, 2)},
			"kazoo":       {other, scene.Exclusive.With(locks.WithNaming(messages.KazooNaming)), scene.Exclusive},
		} {
			t.Run(name, func(t *testing.T) {
				changes, option := newTold()
				lease := c.holds.With(locks.WithLabel("nightly run")).Holds(t, c.holder, "/"+name)
				got := scene.Elsewhere(scene.Deadline(t), c.waits(client, "/"+name, option).Lock)
				behind, shown := changes.waits(t), scene.QueueOf(t, other, "/"+name)[0]
				require.Equal(t, "nightly run", behind.Label)
				require.Equal(t, os.Getpid(), behind.PID)
				require.Equal(t, lease.Token(), behind.Token)
				shown.Holds = false // which the waiter does not know
				shown.Since, shown.Actor, shown.Who = behind.Since, behind.Actor, behind.Who
				require.Equal(t, shown, behind)
				scene.GiveBack(t, lease)
				scene.GiveBack(t, scene.Got(t, got))
				scene.GiveBack(t, scene.Locked(t, c.waits(client, "/"+name, option).Lock))
				require.Empty(t, changes)
			})
		}
	})
}

// TestWaitingIsToldAnew: when another contender is before the Lock, and when somebody asks that one for the lock. One may ask
// just the contender that was told.
func TestWaitingIsToldAnew(t *testing.T) {
	at := scene.OnEmbedded(t)
	one, two, three := at.Open(t), at.Open(t), at.Open(t)
	held := scene.Exclusive.With(locks.WithLabel("holder")).Holds(t, one, "/anew")
	middle := scene.Exclusive.With(locks.WithLabel("middle")).Waits(t, two, "/anew")
	changes, option := newTold()
	last := scene.Exclusive.With(option).Waits(t, three, "/anew")
	require.Equal(t, "middle", changes.waits(t).Label)
	middle.Leave()
	holder := changes.waits(t)
	require.Equal(t, held.Node(), holder.Node)
	require.False(t, holder.Asked)
	answer, err := three.Session().Ask(scene.Deadline(t), messages.SendRevokeRequest{Path: holder.Path, Of: holder})
	require.NoError(t, err)
	require.Len(t, answer.(*messages.RevokeRequestSent).Asked, 1)
	asked := changes.waits(t)
	require.True(t, asked.Asked)
	require.Equal(t, "holder", asked.Label)
	scene.AwaitAsked(t, held)
	scene.GiveBack(t, held)
	last.Passes(t)
	require.Empty(t, changes, "nothing else has changed")
}

// TestWaitingInACohort: of calls that wait for one node the first is told who is before that, and the next when the first has
// gone. One that comes later is told of the call of its client that has the node, or asks for it.
func TestWaitingInACohort(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, other := at.Open(t), at.Open(t)
	held := scene.Exclusive.With(locks.WithLabel("outside")).Holds(t, other, "/cohort")
	lock := func(behind string) (told, *scene.Waiter) {
		changes, option := newTold()
		ctx, leave := context.WithCancel(scene.Deadline(t))
		w := &scene.Waiter{Leave: leave, Done: make(chan struct{})}
		go func() {
			defer close(w.Done)
			w.Lease, w.Err = client.Mutex("/cohort", option, locks.WithCohort(9), locks.WithLabel("inside")).Lock(ctx)
		}()
		require.Equal(t, behind, changes.waits(t).Label)
		return changes, w
	}
	first, one := lock("outside")
	second, two := lock("inside")
	one.Leave()
	require.ErrorIs(t, one.Fails(t), context.Canceled)
	third, three := lock("inside")
	require.Len(t, second, 1, "it would be told when the predecessor's node is read again, a session timeout later")
	require.Equal(t, held.Node(), second.waits(t).Node)
	three.Leave()
	require.ErrorIs(t, three.Fails(t), context.Canceled)
	scene.GiveBack(t, held)
	inside := two.Granted(t)
	fourth, four := lock("inside")
	scene.GiveBack(t, inside)
	four.Passes(t)
	for _, changes := range []told{first, second, third, fourth} {
		require.Empty(t, changes)
	}
}

// TestBehindIsANotice: the observers of a lock actor are told, also one that comes late.
func TestBehindIsANotice(t *testing.T) {
	at := scene.OnEmbedded(t)
	one, two := at.Open(t), at.Open(t)
	held := scene.Exclusive.With(locks.WithLabel("holder")).Holds(t, one, "/notice")
	waiter := scene.Queue(t, two, "/notice")
	behind, err := actorstest.AwaitNotice[*messages.Behind](scene.Deadline(t), waiter.Rec)
	require.NoError(t, err)
	require.Equal(t, scene.Await(t, waiter.Rec, messages.StateWatching).Grant, behind.Grant)
	require.Equal(t, "holder", behind.Contender.Label)
	require.Equal(t, held.Token(), behind.Contender.Token)
	late, lock := scene.Recorder(t, two), waiter.Rec.Transitions()[0].Actor
	late.Observe(actor.NewPID(lock.Address, lock.ID))
	again, err := actorstest.AwaitNotice[*messages.Behind](scene.Deadline(t), late)
	require.NoError(t, err)
	require.Equal(t, behind, again)
	_, err = one.Revoke(scene.Deadline(t), "/notice")
	require.NoError(t, err)
	_, err = actorstest.AwaitNotice(scene.Deadline(t), waiter.Rec, func(b *messages.Behind) bool { return b.Contender.Asked })
	require.NoError(t, err)
	waiter.Leave()
	_, err = actorstest.AwaitNotice[*messages.Cancelled](scene.Deadline(t), waiter.Rec)
	require.NoError(t, err)
	require.Len(t, waiter.Rec.Notices(), 3)
	scene.GiveBack(t, held)
}

// TestWaitingIsNotToldAfterTheAnswer: a callback that takes long delays those behind it. A Lock that holds by then waits for
// nobody any more.
func TestWaitingIsNotToldAfterTheAnswer(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, other := at.Open(t), at.Open(t)
	first, second := scene.LockAt(t, other, "/first"), scene.LockAt(t, other, "/second")
	slow, begun := make(chan struct{}), make(chan struct{})
	waits := scene.Elsewhere(scene.Deadline(t), client.Mutex("/first", locks.WithOnChange(func(locks.Change) {
		close(begun)
		<-slow
	})).Lock)
	scene.Receive(t, begun)
	changes, option := newTold()
	quick := scene.Exclusive.With(option).Waits(t, client, "/second")
	_, err := actorstest.AwaitNotice[*messages.Behind](scene.Deadline(t), quick.Rec)
	require.NoError(t, err)
	scene.GiveBack(t, second)
	quick.Passes(t)
	close(slow)
	scene.GiveBack(t, first)
	scene.GiveBack(t, scene.Got(t, waits))
	third := scene.LockAt(t, other, "/third")
	last := scene.Exclusive.With(option).Waits(t, client, "/third")
	require.Equal(t, "/third", changes.waits(t).Path, "it is behind what was queued before")
	scene.GiveBack(t, third)
	last.Passes(t)
}

// TestAskedWaiterForPermits: somebody who asks a waiter for permits that it does not have writes to its node, as a holder does.
func TestAskedWaiterForPermits(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, other, permit := at.Open(t), at.Open(t), scene.Permits(1, 1)
	held, waits := permit.Holds(t, other, "/permits"), permit.Waits(t, client, "/permits")
	_, err := other.Session().Ask(scene.Deadline(t), messages.SendRevokeRequest{Path: "/permits", Of: scene.QueueOf(t, other, "/permits")[1]})
	require.NoError(t, err)
	waiter := scene.QueueOf(t, other, "/permits")[1]
	require.True(t, waiter.Asked)
	require.False(t, waiter.Holds)
	require.Equal(t, []string{held.Node()}, waiter.WaitsFor)
	scene.GiveBack(t, held)
	waits.Passes(t)
}
