package matrix

import (
	"context"
	"log/slog"
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
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// TestDeadlineBeforeAnythingElse: a process that was stopped past its lease finds any message first
// in its mailbox when it goes on. It reads the clock before that: an owner that gave the lock back
// hears that it was lost, and not that it was released.
//
// The lock actor is stopped by its logger, which is the program's own code.
func TestDeadlineBeforeAnythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		brake := newBrake(stRevoking)
		p := w.join(t, w.server.Connect(), locks.WithLogger(slog.New(brake)))
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

// brake is a log handler that blocks the goroutine that logs, for the first time, that a lock has
// gone into a state.
type brake struct {
	slog.Handler
	at            messages.State
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

func newBrake(at messages.State) *brake {
	b := &brake{Handler: slog.DiscardHandler, at: at, stopped: make(chan struct{}), goOn: make(chan struct{})}
	b.armed.Store(true)
	return b
}

func (b *brake) Enabled(context.Context, slog.Level) bool { return true }
func (b *brake) WithAttrs([]slog.Attr) slog.Handler       { return b }
func (b *brake) WithGroup(string) slog.Handler            { return b }

func (b *brake) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == "lock" && a.Key == logkeys.State && a.Value.String() == b.at.String() && b.armed.Load() {
			b.once.Do(func() {
				close(b.stopped)
				<-b.goOn
			})
		}
		return true
	})
	return nil
}

// TestValidNeverComesBack: the lease runs out, and then the same session is heard of again. The holder, who has
// not been told yet, must not take that for the lease: the lock is lost, and may be somebody else's by now.
func TestValidNeverComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		brake := newBrake(stRevoking)
		p := w.join(t, w.server.Connect(), locks.WithLogger(slog.New(brake)))
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
		require.NoError(t, lease.Context().Err(), "the holder is yet to be told")
		close(brake.goOn)
		<-lease.Context().Done()
		require.ErrorIs(t, lease.Unlock(patient(t)), locks.ErrLost)

		again, err := p.client.Mutex(lockPath).Lock(patient(t))
		require.NoError(t, err)
		require.True(t, again.Valid(), "what is granted from now on is of the next session")
		require.NoError(t, again.Unlock(patient(t)))
	})
}
