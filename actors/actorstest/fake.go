package actorstest

import (
	"context"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Fake is a Provider without a server. Its lock actors do what the test says, and answer the commands
// of their owner as real ones do. They do not exclude each other, and Acquire.Timeout and Try have no
// effect. The zero value is ready to use. Its methods may be called from any goroutine.
//
//	fake := new(actorstest.Fake)
//	system.Root.Spawn(newClerk(fake))               // which spawns a lock actor
//	lock, err := fake.Await(ctx, "/orders/42")
//	lock.Hold()                                     // the clerk is told Held
//	lock.Lose(messages.ReasonSessionExpired)        // and Lost
type Fake struct {
	// Begin, where it is set, says what each lock actor does when it is spawned:
	// (*actorstest.FakeLock).Hold grants all locks at once.
	Begin func(*FakeLock)

	mu     sync.Mutex
	clocks []*zkconn.LeaseClock // one for each lock actor, by epoch
	grants int64
	locks  spawned[*FakeLock]
}

// NewLock implements actors.Provider.
func (f *Fake) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor {
		return &fakeActor{fake: f, want: want, Audience: audience.Local(opts)}
	}, actor.WithMailbox(mailbox.New))
}

// Clock implements actors.Provider. Each lock actor has an epoch and a clock of its own. End it, and
// the lease is over before anybody is told, as for a process that was paused.
func (f *Fake) Clock(epoch uint64) *zkconn.LeaseClock {
	f.mu.Lock()
	defer f.mu.Unlock()
	if epoch == 0 || epoch > uint64(len(f.clocks)) {
		over := zkconn.NewLeaseClock(nil)
		over.End()
		return over
	}
	return f.clocks[epoch-1]
}

// Await waits for the next lock actor that is spawned for a lock path, and gives it. The first call
// gives the first, also one that has ended, and so on. It waits as [Recorder.Await] does.
func (f *Fake) Await(ctx context.Context, path string) (*FakeLock, error) {
	return f.locks.await(ctx, path)
}

func (f *Fake) newEpoch() (uint64, *zkconn.LeaseClock) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clocks = append(f.clocks, zkconn.NewLeaseClock(nil))
	return uint64(len(f.clocks)), f.clocks[len(f.clocks)-1]
}

func (f *Fake) nextToken() messages.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.grants++
	return messages.Token(f.grants * (messages.MaxPlace + 1))
}

// FakeLock is a lock actor of a [Fake], with a recorder of what it goes through. When Hold and the
// others return, the notice is in the mailbox of the owner. A lock actor that has ended tells nothing
// more. A Listener must not call them.
type FakeLock struct {
	*Recorder
	lock *actor.PID
	over chan struct{} // closed when the lock actor has ended

	beginning sync.Mutex
	begun     bool  // Fake.Begin has returned
	first     []any // what is told before
}

// PID is the address of the lock actor.
func (l *FakeLock) PID() *actor.PID { return l.lock }

// Hold grants the lock, with a greater token than that of any grant of this Fake before, and a lease
// that no test outlives.
func (l *FakeLock) Hold() { l.Tell(&messages.Held{Places: messages.MaxPlace}) }

// Suspend says that the connection is down: the lock may be lost at the end of its lease.
func (l *FakeLock) Suspend() { l.Tell(&messages.Suspended{}) }

// Resume ends Suspend.
func (l *FakeLock) Resume() { l.Tell(&messages.Resumed{}) }

// Lose takes the lock away, and the lease before it, which messages.ReasonNodeDeleted leaves. The
// request ends.
func (l *FakeLock) Lose(reason messages.Reason) { l.Tell(&messages.Lost{Reason: reason}) }

// Tell sends any notice, such as &messages.Failed{Reason: messages.ReasonNoAuth}, which ends the
// request, or &messages.RevokeRequested{}. The lock actor fills in the Grant, and times that are
// zero. The Until of a Held is when its lease ends.
func (l *FakeLock) Tell(notice any) {
	if l.early(notice) {
		return
	}
	told := make(chan struct{})
	l.system.Root.Send(l.lock, &tell{notice: notice, told: told})
	select {
	case <-told:
	case <-l.over:
	}
}

// early keeps a notice for the end of Fake.Begin, which runs on the lock actor.
func (l *FakeLock) early(notice any) bool {
	l.beginning.Lock()
	defer l.beginning.Unlock()
	if !l.begun {
		l.first = append(l.first, notice)
	}
	return !l.begun
}

func (l *FakeLock) begin() (first []any) {
	l.beginning.Lock()
	defer l.beginning.Unlock()
	l.begun = true
	return l.first
}
