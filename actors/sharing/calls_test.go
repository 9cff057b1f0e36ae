package sharing

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// below plays the lock actors of a client, and notes what they are told.
type below struct {
	system *actor.ActorSystem
	clock  *zkconn.LeaseClock
	calls  *Calls

	mu    sync.Mutex
	zxid  int64
	locks []*lockActor
	heard []string
}

// lockActor is one of them. It tells nothing by itself.
type lockActor struct {
	*below
	n    int
	want messages.Acquire
	to   actors.Listener
	pid  *actor.PID
}

func newBelow(t *testing.T) *below {
	b := &below{system: actor.NewActorSystem()}
	t.Cleanup(b.system.Shutdown)
	b.renew()
	b.calls = New(b, b.system)
	return b
}

func (b *below) Clock(uint64) *zkconn.LeaseClock {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

// renew begins another clock, as a session that comes after does.
func (b *below) renew() {
	clock := zkconn.NewLeaseClock(nil)
	clock.Extend(time.Now().Add(time.Hour))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = clock
}

func (b *below) Timeout() time.Duration { return time.Minute }

func (b *below) SpawnLock(want *messages.Acquire, to actors.Listener, _ []*actor.PID) *actor.PID {
	l := &lockActor{below: b, want: *want, to: to}
	pid := b.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return l }, actor.WithMailbox(mailbox.New)))
	b.mu.Lock()
	defer b.mu.Unlock()
	l.n, l.pid = len(b.locks), pid
	b.locks = append(b.locks, l)
	return pid
}

// spawned waits for a lock actor that is spawned elsewhere, as where the end of a term is heard.
func (b *below) spawned(t *testing.T, n int) *lockActor {
	t.Helper()
	var l *lockActor
	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.locks) > n {
			l = b.locks[n]
		}
		return l != nil
	}, time.Minute, time.Millisecond)
	return l
}

// Receive notes a command. A Release and a Cancel are carried out at once, and the next one holds.
func (l *lockActor) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *messages.Release:
		l.note("release")
		l.to.Hear(l.pid, &messages.Released{})
		ctx.Stop(ctx.Self())
	case *messages.Cancel:
		l.note("cancel")
		l.to.Hear(l.pid, &messages.Cancelled{Reason: msg.Reason})
		ctx.Stop(ctx.Self())
	case *messages.Check:
		l.note("check")
	case *messages.WatchContention:
		l.note("watch")
	case *actor.Stopped:
		l.to.Hear(l.pid, msg)
	}
}

func (l *lockActor) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, fmt.Sprint(what, " ", l.n))
}

// held has the lock actor tell Held, of an epoch and a term.
func (l *lockActor) held(epoch, term uint64) {
	l.mu.Lock()
	l.zxid++
	token, _ := messages.NewToken(l.zxid, 0)
	l.mu.Unlock()
	l.to.Hear(l.pid, &messages.Held{Grant: messages.Grant{Path: l.want.Path, Node: fmt.Sprint("node-", l.n), Token: token,
		Actor: messages.IDOf(l.pid)}, Epoch: epoch, Term: term, Places: messages.MaxPlace})
}

// holdIn is held in the present term.
func (l *lockActor) holdIn(epoch uint64) {
	term, _ := l.clock.Term()
	l.held(epoch, term)
}

// hold has the lock actor hold, as one does in the first epoch.
func (l *lockActor) hold() {
	l.holdIn(1)
	l.to.Moved(messages.StateHeld, fmt.Sprint("node-", l.n))
	if l.want.TellMore {
		l.to.Hear(l.pid, &messages.Watched{Readable: true})
	}
}

func (b *below) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	heard := b.heard
	b.heard = nil
	return heard
}

// user is a call that notes what it is told.
type user struct {
	mu    sync.Mutex
	id    turns.CallID
	hold  *Hold
	token messages.Token
	heard []string
}

func (u *user) Granted(id turns.CallID, hold *Hold, token messages.Token) func() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.id, u.hold, u.token = id, hold, token
	u.heard = append(u.heard, "granted")
	return nil
}

func (u *user) Refused(why messages.Reason, _ string, _ More) {
	u.note("refused: " + string(why))
}

func (u *user) Told(state messages.State, _ time.Time, why messages.Reason, _ string) {
	u.note(strings.TrimSuffix(state.String()+": "+string(why), ": "))
}

func (u *user) note(what string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.heard = append(u.heard, what)
}

func (u *user) told() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	heard := strings.Join(u.heard, ", ")
	u.heard = nil
	return heard
}

func wantOf(change func(*turns.Want)) *turns.Want {
	w := &turns.Want{Acquire: messages.Acquire{Path: "/a"}}
	if change != nil {
		change(w)
	}
	return w
}

func (b *below) call(want *turns.Want) *user {
	u := &user{}
	u.id = b.calls.Call(want, 0, u)
	return u
}

// TestEachItsHold: without options each call has a lock actor of its own, and ends when that has.
func TestEachItsHold(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Grace, w.Owner = time.Second, "me" })
	one, two := b.call(want), b.call(want)
	require.Len(t, b.locks, 2)
	require.Equal(t, messages.Acquire{Path: "/a", Owner: "me"}, b.locks[0].want)
	b.locks[0].hold()
	require.Equal(t, "granted", one.told())
	b.calls.GiveBack(one.id)
	require.Equal(t, []string{"release 0"}, b.take())
	require.Equal(t, "released", one.told())
	b.locks[1].hold()
	require.Equal(t, "granted", two.told())
	require.Greater(t, two.token, one.token)
	b.calls.GiveBack(two.id)
	require.True(t, b.calls.Wait(t.Context()))
}

// TestTurnsOnOneHold: with a cohort the calls have one hold in turn, each with a greater token. It
// names no owner, and is given back with the last.
func TestTurnsOnOneHold(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Cohort, w.Caller = 10, "me" })
	one, two, three := b.call(want), b.call(want), b.call(want)
	require.Len(t, b.locks, 1)
	require.Equal(t, messages.Acquire{Path: "/a", TellMore: true}, b.locks[0].want)
	require.Equal(t, 2, b.calls.CountInside())
	b.locks[0].hold()
	b.calls.GiveBack(one.id)
	require.Equal(t, "granted, released: "+string(messages.ReasonReleased), one.told())
	require.Equal(t, "granted", two.told())
	require.Equal(t, one.token+1, two.token)
	require.Same(t, one.hold, two.hold)
	b.calls.Withdraw(three.id, messages.ReasonCancelled)
	require.Empty(t, b.take())
	b.calls.GiveBack(two.id)
	require.Equal(t, []string{"release 0"}, b.take())
	require.Equal(t, "refused: "+string(messages.ReasonCancelled), three.told())
	require.True(t, b.calls.Wait(t.Context()))
}

// TestKeptHold: a sticky hold serves the next call within its Call. Others that come, and Close, end
// it.
func TestKeptHold(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Sticky = time.Hour })
	one := b.call(want)
	b.locks[0].hold()
	b.calls.GiveBack(one.id)
	require.Equal(t, []string{"watch 0"}, b.take())
	require.Equal(t, "granted, released: "+string(messages.ReasonReleased), one.told())
	two := b.call(want)
	require.Equal(t, "granted", two.told())
	b.locks[0].to.Hear(b.locks[0].pid, &messages.Contended{})
	b.calls.GiveBack(two.id)
	require.Equal(t, []string{"release 0"}, b.take())

	b.call(want)
	b.locks[1].hold()
	b.calls.GiveBack(b.call(want).id)
	b.calls.Close()
	require.Len(t, b.calls.Nodes("/"), 1)
}

// TestStickyTimer: a kept hold is given back when its time is over.
func TestStickyTimer(t *testing.T) {
	b := newBelow(t)
	one := b.call(wantOf(func(w *turns.Want) { w.Sticky = time.Millisecond }))
	b.locks[0].hold()
	b.calls.GiveBack(one.id)
	require.Eventually(t, func() bool { return slices.Contains(b.take(), "release 0") }, time.Minute, time.Millisecond)
	require.True(t, b.calls.Wait(t.Context()))
}

// TestEndOfTheLease: all that have the hold are told at once, though the queue of outputs is held up.
func TestEndOfTheLease(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Mode, w.Cohort = messages.Read, 10 })
	one, two := b.call(want), b.call(want)
	b.locks[0].hold()
	blocked, goOn := make(chan struct{}), make(chan struct{})
	stuck := &blocker{in: blocked, out: goOn}
	go b.calls.Call(wantOf(func(w *turns.Want) { w.Mode, w.Cohort = messages.Read, 10 }), 0, stuck)
	<-blocked
	b.clock.End()
	b.locks[0].to.(*hold).TermEnded()
	reason := "lost: " + string(messages.ReasonLeaseOver)
	require.Equal(t, "granted, "+reason, one.told())
	require.Equal(t, "granted, "+reason, two.told())
	close(goOn)
	b.locks[0].to.Hear(b.locks[0].pid, &messages.Lost{Reason: messages.ReasonLeaseOver})
	b.system.Root.Stop(b.locks[0].pid)
	require.Empty(t, one.told())
}

// TestHeldTooLate: a hold whose lease is over as its lock actor tells Held, as after a pause of the process, is granted to
// nobody. The call asks anew.
func TestHeldTooLate(t *testing.T) {
	b := newBelow(t)
	one := b.call(wantOf(nil))
	term, _ := b.clock.Term()
	b.clock.End()
	first := b.locks[0]
	first.held(1, term)
	require.Empty(t, one.told())
	first.to.Hear(first.pid, &messages.Lost{Reason: messages.ReasonLeaseOver})
	b.system.Root.Stop(first.pid)
	second := b.spawned(t, 1)
	b.renew()
	second.holdIn(2)
	require.Equal(t, "granted", one.told())
	b.calls.GiveBack(one.id)
	require.True(t, b.calls.Wait(t.Context()))
}

// blocker blocks the goroutine that grants it.
type blocker struct{ in, out chan struct{} }

func (b *blocker) Granted(turns.CallID, *Hold, messages.Token) func() {
	return func() {
		close(b.in)
		<-b.out
	}
}
func (b *blocker) Refused(messages.Reason, string, More)                   {}
func (b *blocker) Told(messages.State, time.Time, messages.Reason, string) {}

// TestTransactions: a hold is not given to the next while a transaction is under way, and Unlock waits.
func TestTransactions(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Cohort = 10 })
	one, two := b.call(want), b.call(want)
	b.locks[0].hold()
	require.True(t, b.calls.TxnBegun(one.id))
	b.calls.GiveBack(one.id)
	require.Equal(t, "granted", one.told())
	require.Empty(t, two.told())
	require.False(t, b.calls.TxnBegun(one.id))
	b.calls.TxnEnded(one.hold, true)
	require.Equal(t, "released: "+string(messages.ReasonReleased), one.told())
	require.Equal(t, "granted", two.told())
}

// TestMany: many goroutines take turns, one at a time.
func TestMany(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Sticky, w.Cohort = time.Hour, 1000 })
	one := b.call(want)
	b.locks[0].hold()
	b.calls.GiveBack(one.id)
	held := 0 // guarded by the lock
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				w := &waiter{got: make(chan struct{})}
				b.calls.Call(want, 0, w)
				<-w.got
				held++
				b.calls.GiveBack(w.id)
			}
		})
	}
	all.Wait()
	require.Equal(t, 800, held)
}

type waiter struct {
	blocker
	id  turns.CallID
	got chan struct{}
}

func (w *waiter) Granted(id turns.CallID, _ *Hold, _ messages.Token) func() {
	w.id = id
	close(w.got)
	return nil
}

// ofSession has the calls read the lease as those of a session do: before they take the mutex.
func (b *below) ofSession() { b.calls.session = new(actors.Session) }

// TestReadingOfAnEarlierLease: a call has read the lease, and comes to its queue when a hold of the next lease is kept
// there. Nothing more would come to wake it.
func TestReadingOfAnEarlierLease(t *testing.T) {
	b := newBelow(t)
	b.ofSession()
	var block atomic.Bool
	in, out := make(chan struct{}), make(chan struct{})
	b.clock = zkconn.NewLeaseClock(func() time.Duration {
		if block.CompareAndSwap(true, false) {
			close(in)
			<-out
		}
		return 0
	})
	b.clock.Extend(time.Now().Add(time.Hour))
	want := wantOf(func(w *turns.Want) { w.Sticky = time.Hour })
	one := b.call(want)
	b.locks[0].holdIn(1)
	b.calls.GiveBack(one.id)
	b.locks[0].to.Hear(b.locks[0].pid, &messages.Lost{})
	b.clock.End()
	block.Store(true)
	late := &waiter{got: make(chan struct{})}
	go b.calls.Call(want, 0, late)
	<-in
	two := b.call(want)
	b.renew()
	b.locks[1].holdIn(2)
	b.locks[1].to.Hear(b.locks[1].pid, &messages.Watched{Readable: true})
	require.Equal(t, "granted", two.told())
	b.calls.GiveBack(two.id)
	close(out)
	select {
	case <-late.got:
	case <-time.After(3 * time.Second):
		t.Fatal("it waits, and the hold is kept")
	}
}

// TestLostAfterTheNextIsHeld: a hold of the next session has come before the end of the last lease is heard of. It is
// granted by the end of the lock actor, because the clock is not asked when the lease ends.
func TestLostAfterTheNextIsHeld(t *testing.T) {
	b := newBelow(t)
	b.ofSession()
	one, two := b.call(wantOf(nil)), b.call(wantOf(nil))
	b.locks[0].holdIn(1)
	b.renew()
	b.locks[1].holdIn(2)
	require.Empty(t, two.told())
	b.locks[0].to.(*hold).TermEnded()
	require.Contains(t, one.told(), "lost")
	b.locks[0].to.Hear(b.locks[0].pid, &messages.Lost{})
	require.Equal(t, "granted", two.told())
}

// listening is a user that is told whom it waits for.
type listening struct{ user }

func (l *listening) Behind(contender messages.Contender) { l.note(contender.Node) }

// ahead is the node before a lock actor's.
type ahead string

func (a ahead) Contender(path string) messages.Contender {
	return messages.Contender{Path: path, Node: string(a), Token: 1}
}

// TestTheFirstIsTold: whom a hold waits for is told to the first call behind it, if that listens,
// and to no other.
func TestTheFirstIsTold(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Cohort = 10 })
	first, second := b.call(want), &listening{}
	second.id = b.calls.Call(want, 0, second)
	b.locks[0].to.(audience.WaitListener).WaitsFor(ahead("ahead"))
	require.Empty(t, first.told()+second.told())
	b.calls.Withdraw(first.id, messages.ReasonCancelled)
	require.Equal(t, "ahead", second.told())
	b.calls.Withdraw(second.id, messages.ReasonCancelled)
	require.True(t, b.calls.Wait(t.Context()))
}

// TestWithdrawnBeforeMany: a call that gives up is news for the next behind its hold, and for no other: they may be
// thousands, and each may give up as well.
func TestWithdrawnBeforeMany(t *testing.T) {
	b := newBelow(t)
	want := wantOf(func(w *turns.Want) { w.Mode, w.Permits = messages.Semaphore, 1 })
	calls := make([]*listening, turns.DefaultBounds().Waiting+9) // the last have no holds, so holds are passed on
	for i := range calls {
		calls[i] = &listening{}
		calls[i].id = b.calls.Call(want, 0, calls[i])
		if i < turns.DefaultBounds().Waiting {
			b.locks[i].to.(audience.WaitListener).WaitsFor(ahead(fmt.Sprint("ahead-of-", i)))
			require.Equal(t, fmt.Sprint("ahead-of-", i), calls[i].told())
		}
	}
	for i := range 3 {
		b.calls.Withdraw(calls[i].id, messages.ReasonCancelled)
		calls[i].told()
		require.Equal(t, "ahead-of-0", calls[i+1].told(), "it is served by that hold now")
		for _, other := range calls[i+2:] {
			require.Empty(t, other.told())
		}
	}
	for _, call := range calls[3:] {
		b.calls.Withdraw(call.id, messages.ReasonCancelled)
	}
	require.True(t, b.calls.Wait(t.Context()))
}
