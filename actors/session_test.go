package actors

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// aloneSession is a session actor's inside without an actor and without a connection: work is kept
// instead of done, and the test says what came of it.
type aloneSession struct {
	*session
	system *actor.ActorSystem
	asked  int // how many requests would have been sent
}

func newAlone(t testing.TB, epoch uint64) *aloneSession {
	t.Helper()
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
	t.Cleanup(system.Shutdown)
	handle := &Session{system: system, opts: sessionOptions{log: slog.New(slog.DiscardHandler)}}
	a := &aloneSession{session: newSession(handle), system: system}
	a.self = system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {})) // what timers send goes nowhere
	a.connected = true
	a.setLease(&lease{epoch: epoch, session: 1, timeout: time.Hour, clock: zkconn.NewLeaseClock(nil)})
	a.lease.clock.Extend(time.Now().Add(time.Hour))
	a.leaseRun, _ = a.lease.look()
	a.run = func(func(*zkconn.Conn) func()) { a.asked++ }
	t.Cleanup(a.stopTimers)
	return a
}

// contend adds a contender whose lock actor is a probe; what it hears comes out of the channel.
func (a *aloneSession) contend(node string) (*contender, <-chan machine.Event) {
	heard := make(chan machine.Event, 16)
	probe := a.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if n, ok := ctx.Message().(*news); ok {
			heard <- n.event
		}
	}))
	c := &contender{spec: &spec{path: "/p", guid: node, want: &messages.Acquire{Path: "/p"}}, lock: probe, node: node}
	a.contenders[probe.Id] = c
	return c, heard
}

// quiet tells that a probe has heard nothing: a message sent behind comes first.
func (a *aloneSession) quiet(t *testing.T, c *contender, heard <-chan machine.Event) {
	t.Helper()
	a.tell(c.lock, machine.Event{Kind: machine.Begin})
	require.Equal(t, machine.Begin, (<-heard).Kind)
}

func nodeName(n int) string { return fmt.Sprintf("_c_guid%d-lock-%010d", n, n) }

func TestOneListingServesAllWhoseNodeItShows(t *testing.T) {
	a := newAlone(t, 1)
	one, heard1 := a.contend(nodeName(1))
	two, heard2 := a.contend(nodeName(2))
	three, heard3 := a.contend(nodeName(3))
	a.list(one, 11)
	a.list(two, 12)
	a.list(three, 13)
	require.Equal(t, 1, a.asked, "listings under way")

	a.listed("/p", a.listings["/p"], view{queue: queue.NewListing([]string{nodeName(2), nodeName(1)}, 0)})
	ev := <-heard1
	require.True(t, ev.First)
	require.EqualValues(t, 11, ev.Op)
	ev = <-heard2
	require.Equal(t, nodeName(1), ev.Predecessor)
	require.True(t, ev.Head)
	a.quiet(t, three, heard3)
	require.Equal(t, 2, a.asked, "one more for the node that was not shown")

	a.listed("/p", a.listings["/p"], view{queue: queue.NewListing([]string{nodeName(3)}, 0)})
	require.True(t, (<-heard3).First)
	require.Equal(t, 2, a.asked)
	require.Empty(t, a.listings)
}

// TestWatcherOfAllLearnsNoHead: an event of the whole lock path does not say which node is gone.
func TestWatcherOfAllLearnsNoHead(t *testing.T) {
	seen := view{queue: queue.NewListing([]string{nodeName(1), nodeName(2)}, 0)}
	for _, all := range []bool{false, true} {
		c := &contender{spec: &spec{path: "/p", watchAll: all}, node: nodeName(2)}
		ev := c.judgeListing(7, seen)
		require.Equal(t, nodeName(1), ev.Predecessor)
		require.Equal(t, !all, ev.Head)
	}
}

func TestOrderOfAnEpochThatIsOverIsVoid(t *testing.T) {
	a := newAlone(t, 2)
	a.take(nil, &order{Effect: machine.Effect{Do: machine.Create, Op: 7}, spec: &spec{path: "/p"}, epoch: 1})
	require.Zero(t, a.asked)
	require.Empty(t, a.parked)
	require.Empty(t, a.contenders)
	require.EqualValues(t, 1, a.Counters().Stale)
}

func TestVerificationThatWasSupersededChangesNothing(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend(nodeName(1))
	a.verify(c, 5)
	a.verify(c, 6)
	a.verified(c, 5, own{}, nil) // it found nothing, because it looked too early
	require.Equal(t, nodeName(1), c.node)
	a.quiet(t, c, heard)
	a.verified(c, 6, own{node: nodeName(1), czxid: 9, beat: beat{sent: time.Now()}}, nil)
	ev := <-heard
	require.Equal(t, machine.Found, ev.Kind)
	require.EqualValues(t, 9, ev.Token.Zxid())
	require.True(t, a.lease.clock.Valid())
}

func TestVerifyWaitsForTheCreatesUnderWay(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend("")
	a.create(c, 1)
	a.verify(c, 2)
	require.Equal(t, 1, a.asked)
	a.created(c, 1, zkconn.Created{}, facts{}, zkconn.ErrUnknownOutcome)
	require.Equal(t, machine.Unknown, (<-heard).Kind)
	require.Equal(t, 2, a.asked, "now it may look")
}

func TestSecondNodeOfARequestIsNotTaken(t *testing.T) {
	a := newAlone(t, 1)
	c, _ := a.contend(nodeName(1))
	ev := a.judge(c, zkconn.Created{Name: nodeName(2), Czxid: 5, Siblings: 2, Sent: time.Now()}, nil)
	require.Equal(t, machine.Unknown, ev.Kind)
	require.True(t, c.unsure)
	require.Equal(t, nodeName(1), c.node)
}

func TestLockActorThatEndsWhileItsNodeIsMade(t *testing.T) {
	a := newAlone(t, 1)
	c, _ := a.contend("")
	a.create(c, 1)
	a.abandoned(c.lock)
	require.Equal(t, 1, a.asked)
	a.created(c, 1, zkconn.Created{Name: nodeName(1), Czxid: 5, Siblings: 1, Sent: time.Now()}, facts{}, nil)
	require.True(t, c.settling, "the node that was made is being deleted")
	a.settled(c, nil)
	require.Empty(t, a.contenders)
}

// A verification that waited for a create to come back is overtaken by a newer one that waited for the connection:
// the newer one is answered. Found by the exhaustive walk; the request hung in releasing.
func TestVerificationThatWasPutOffVoidsNoNewerOne(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend("")
	a.create(c, 1)
	a.verify(c, 2) // waits for the create
	a.down(zkconn.Event{Kind: zkconn.Disconnected})
	require.Equal(t, machine.Disconnected, (<-heard).Kind)
	a.parked = append(a.parked, parked{c, machine.Effect{Do: machine.Verify, Op: 3}}) // waits for the connection
	a.created(c, 1, zkconn.Created{}, facts{}, zkconn.ErrUnknownOutcome)
	require.Equal(t, machine.Unknown, (<-heard).Kind)

	a.ready = make(chan struct{})
	a.up(zkconn.Event{Kind: zkconn.Connected, SessionID: 1, Timeout: time.Hour})
	require.Equal(t, machine.Connected, (<-heard).Kind)
	a.verified(c, 3, own{}, nil)
	ev := <-heard
	require.Equal(t, machine.Found, ev.Kind)
	require.EqualValues(t, 3, ev.Op)
}

func TestEventGoesToWhoAskedForIt(t *testing.T) {
	a := newAlone(t, 1)
	one, heard1 := a.contend(nodeName(1))
	two, heard2 := a.contend(nodeName(2))
	three, heard3 := a.contend(nodeName(3))
	a.readOwn(one, machine.Effect{Op: 1, Node: nodeName(1)})
	a.watchPredecessor(two, machine.Effect{Op: 2, Node: nodeName(1)})
	a.watchPredecessor(three, machine.Effect{Op: 3, Node: nodeName(2)})

	a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDeleted, Path: "/p/" + nodeName(1)})
	ev := <-heard1
	require.Equal(t, machine.NodeGone, ev.Kind)
	ev = <-heard2
	require.Equal(t, machine.PredecessorGone, ev.Kind)
	require.EqualValues(t, 2, ev.Op)
	a.quiet(t, three, heard3)
	require.Len(t, a.watches, 1)
	a.strike(three)
	require.Empty(t, a.watches)
}

// TestShortHoldIsNotRead: a holder's node is read and watched once it has held for a moment.
func TestShortHoldIsNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		then func(a *aloneSession, c *contender)
		read int
	}{
		"it holds on":                  {func(*aloneSession, *contender) {}, 1},
		"it gives back":                {func(a *aloneSession, c *contender) { a.remove(c, machine.Effect{Do: machine.GiveBack, Node: c.node}) }, 0},
		"it has asked again":           {func(a *aloneSession, c *contender) { a.watchOwn(c, machine.Effect{Op: 2, Node: c.node}) }, 0},
		"the connection is down":       {func(a *aloneSession, _ *contender) { a.connected = false }, 0},
		"its lock actor has ended":     {func(_ *aloneSession, c *contender) { c.gone = true }, 0},
		"its node is known to be gone": {func(a *aloneSession, c *contender) { a.forgetNode(c) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			holder, _ := a.contend(nodeName(1))
			a.watchOwn(holder, machine.Effect{Op: 1, Node: nodeName(1)})
			require.Zero(t, a.asked)
			c.then(a, holder)
			before := a.asked
			for i := range a.unread[:1] {
				a.unread[i].asked = time.Now().Add(-soon)
			}
			a.readDue()
			require.Equal(t, c.read, a.asked-before)
		})
	}
}

// The reply and the event of one watch go different ways to the session actor.
func TestEventOfTheOwnNodeOvertakesTheReply(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend(nodeName(1))
	path := "/p/" + nodeName(1)

	a.readOwn(c, machine.Effect{Op: 1, Node: nodeName(1)})
	a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDataChanged, Path: path})
	require.Equal(t, machine.OwnChanged, (<-heard).Kind)
	a.ownRead(c, path, 1, nil, nil)
	a.quiet(t, c, heard) // the machine asks again

	a.readOwn(c, machine.Effect{Op: 2, Node: nodeName(1)})
	a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDeleted, Path: path})
	require.Equal(t, machine.NodeGone, (<-heard).Kind)
	a.ownRead(c, path, 2, nil, nil)
	a.quiet(t, c, heard)
}

func TestOnlyTheEnsembleRenewsTheLease(t *testing.T) {
	for err, want := range map[error]bool{
		nil: true, zkconn.ErrNoNode: true, zkconn.ErrNoAuth: true,
		zkconn.ErrRefused: false, zkconn.ErrUnknownOutcome: false, zkconn.ErrClosed: false,
	} {
		require.Equal(t, want, beat{err: err}.acknowledged(), "%v", err)
	}
}

func TestLeaseThatRanOutIsToldBeforeItIsRenewed(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend(nodeName(1))
	a.setLease(&lease{epoch: 1, session: 1, timeout: time.Hour, clock: zkconn.NewLeaseClock(nil)})
	a.lease.clock.Extend(time.Now().Add(time.Millisecond))
	a.leaseRun, _ = a.lease.look()
	require.Eventually(t, func() bool { return !a.lease.clock.Valid() }, time.Minute, time.Millisecond)
	a.lease.clock.Extend(time.Now().Add(time.Hour))
	a.renewed()
	require.Equal(t, machine.LeaseOver, (<-heard).Kind)
	require.True(t, a.lease.clock.Valid())
	a.quiet(t, c, heard)
}

// TestListingMadeWithTheNode: what was listed while the node was made answers, once, if it shows the node.
func TestListingMadeWithTheNode(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend(nodeName(2))
	c.early = &view{queue: queue.NewListing([]string{nodeName(1), nodeName(2)}, 0)}
	a.list(c, 5)
	ev := <-heard
	require.Equal(t, nodeName(1), ev.Predecessor)
	require.EqualValues(t, 5, ev.Op)
	require.Zero(t, a.asked)
	a.list(c, 6)
	require.Equal(t, 1, a.asked, "it was used up")

	for name, early := range map[string]*view{
		"it does not show the node": {queue: queue.NewListing([]string{nodeName(1)}, 0)},
		"it failed":                 {queue: queue.NewListing(nil, 0), err: zkconn.ErrUnknownOutcome},
	} {
		a := newAlone(t, 1)
		c, _ := a.contend(nodeName(2))
		c.early = early
		a.list(c, 5)
		require.Equal(t, 1, a.asked, name)
	}
}
