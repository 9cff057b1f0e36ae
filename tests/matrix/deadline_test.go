package matrix

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestDeadlineBeforeAnythingElse: a process that was stopped past its lease finds any message first
// in its mailbox when it goes on. It reads the clock before that: an owner that gave the lock back
// hears that it was lost, and not that it was released.
//
// The lock actor is stopped by the mailbox of its observer, which is the program's own code.
func TestDeadlineBeforeAnythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		brake := w.newBrake(stRevoking)
		p := w.join(t, w.server.Connect())
		lease := p.hold(t)
		_, err := w.operator.Set(lockPath+"/"+lease.Node(), []byte("unlock"), -1)
		require.NoError(t, err)
		<-brake.stopped // in the middle of the transition to revoking
		w.server.Replica(0).HoldReplies()
		unlocked := make(chan error)
		ctx := patient(t)
		go func() { unlocked <- unlock(ctx, lease) }()
		time.Sleep(time.Until(lease.Deadline()))
		require.False(t, lease.Valid())

		close(brake.goOn)
		err = <-unlocked
		require.ErrorIs(t, err, locks.ErrLost)
		require.ErrorContains(t, err, string(messages.ReasonLeaseOver))
		p.await(t, messages.StateLost)
		require.NotContains(t, p.rec.States(), messages.StateReleasing)
		w.server.Replica(0).ReleaseReplies()
	})
}

// TestNodesOfALostRequestAreDeleted: the connection is away for longer than the lease, and not for as long as
// the session. Lost is told while it is away; when the same session comes back its node is deleted, and the
// next need not wait for the session to expire.
func TestNodesOfALostRequestAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		p, next := w.join(t, w.server.Connect()), w.join(t, w.server.Connect(), locks.WithSessionTimeout(time.Minute))
		lease := p.hold(t)
		next.wait(t)
		session := p.session()

		w.refuse(true)
		w.server.Replica(0).DropClients()
		require.Equal(t, messages.ReasonLeaseOver, p.await(t, messages.StateLost).Reason)
		require.NotEmpty(t, w.server.Sessions())
		w.refuse(false)
		got := next.hold(t)
		require.Equal(t, []string{got.Node()}, w.children(t))
		require.Equal(t, session, p.session())
		require.Contains(t, w.server.Sessions(), session)
		require.ErrorIs(t, lease.Unlock(patient(t)), locks.ErrLost)
		require.NoError(t, got.Unlock(patient(t)))
	})
}

// brake is the mailbox of an observer, and blocks whoever tells it, for the first time, that a lock has gone into a state: the
// goroutine that runs the lock actor. It stops the requests of the next player that joins its world.
type brake struct {
	actor.Mailbox
	at            messages.State
	joined        bool // it stops a player already
	armed         atomic.Bool
	once          sync.Once
	stopped, goOn chan struct{}
}

// lockActor finds the lock actor of the one contender there is, whose node says who made it.
func (p *player) lockActor(t *testing.T) *actor.PID {
	t.Helper()
	queue, err := p.client.Queue(patient(t), lockPath)
	require.NoError(t, err)
	require.Len(t, queue, 1)
	parts := strings.SplitN(queue[0].Actor, "/", 3) // the system, the address, and the name
	return actor.NewPID(parts[1], parts[2])
}

// newBrake makes the brake of the next player that joins.
func (w *world) newBrake(at messages.State) *brake {
	w.brake = &brake{Mailbox: actor.Unbounded()(), at: at, stopped: make(chan struct{}), goOn: make(chan struct{})}
	w.brake.armed.Store(true)
	return w.brake
}

// PostUserMessage takes a transition.
func (b *brake) PostUserMessage(message any) {
	if tr, ok := actor.UnwrapEnvelopeMessage(message).(*messages.Transition); ok && tr.To == b.at && b.armed.Load() {
		b.once.Do(func() {
			close(b.stopped)
			<-b.goOn
		})
	}
	b.Mailbox.PostUserMessage(message)
}

// brakes has the brakes of clients.
var brakes sync.Map

// observer is the brake of a client, as an option of its locks.
func observer(client *locks.Client) []locks.LockOption {
	b, ok := brakes.Load(client)
	if !ok {
		return nil
	}
	pid := client.System().Root.Spawn(actor.PropsFromFunc(func(actor.Context) {},
		actor.WithMailbox(func() actor.Mailbox { return b.(*brake) })))
	return []locks.LockOption{locks.WithObserver(pid)}
}

// TestValidNeverComesBack: the lease runs out, and then the same session is heard of again. The holder, who has
// not been told yet, must not take that for the lease: the lock is lost, and may be somebody else's by now.
func TestValidNeverComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		brake := w.newBrake(stRevoking)
		p := w.join(t, w.server.Connect())
		lease := p.hold(t)
		lock := p.lockActor(t)
		go p.client.System().Root.Send(lock, &messages.Revoke{})
		<-brake.stopped // on the sender's goroutine, so that the session goes on
		w.server.Replica(0).HoldReplies()
		time.Sleep(time.Until(lease.Deadline()))
		require.False(t, lease.Valid())

		w.server.Replica(0).ReleaseReplies()
		clock := p.client.Session().Clock(1)
		for range 100 { // the session is heard of again
			time.Sleep(100 * time.Millisecond)
			require.False(t, clock.Valid(), "its chain of evidence is broken")
			require.False(t, lease.Valid())
		}
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost, "by the clock: no message has come")
		close(brake.goOn)
		require.ErrorIs(t, lease.Unlock(patient(t)), locks.ErrLost)

		again, err := p.client.Mutex(lockPath).Lock(patient(t))
		require.NoError(t, err)
		require.True(t, again.Valid(), "what is granted from now on is of the next session")
		require.NoError(t, again.Unlock(patient(t)))
	})
}
