package tests

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// foreign are children that are no contenders, though some look like it.
var foreign = []string{"foo", "_c_x", "lock-abc", "_c_x-lock-", "lock-12", "0000000000", "lock-99999999999999999999"}

func TestForeignChildrenArePassedOver(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		for _, name := range foreign {
			o.plant(t, "/foreign/"+name, "whatever")
		}
		var line []*request
		for i, from := range []*stage{s, others, s} {
			r := from.spawn(t, "/foreign")
			line = append(line, r)
			awaitCount(t, at, "/foreign", len(foreign)+i+1)
		}
		queue := o.queue(t, "/foreign")
		for i, r := range line {
			require.Equal(t, queue[i], r.hold(t).Node)
			r.send(&messages.Release{})
			r.finish(t)
		}
		awaitCount(t, at, "/foreign", len(foreign))
		requireMatch(t, line[0], actorstest.InOrder(messages.StateCreating, messages.StateHeld,
			messages.StateReleasing, messages.StateReleased)...)
	})
}

// other is a contender that go-zookeeper's own Lock made.
type other struct {
	*zk.Lock
	held chan error
}

func lockOutside(o outside, path string) *other {
	l := &other{zk.NewLock(o.Conn, o.at.Root()+path, zk.WorldACL(zk.PermAll)), make(chan error, 1)}
	go func() { l.held <- l.Lock.Lock() }()
	return l
}

func (l *other) hold(t *testing.T) {
	t.Helper()
	select {
	case err := <-l.held:
		require.NoError(t, err)
	case <-deadline(t).Done():
		t.Fatal("zk.Lock was never granted")
	}
}

// TestWithGoZookeepersLock: contenders of both kinds stand in one queue, and each waits for the other.
func TestWithGoZookeepersLock(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		first := s.spawn(t, "/shared")
		one := first.hold(t)
		second := lockOutside(o, "/shared")
		awaitCount(t, at, "/shared", 2)
		third := s.spawn(t, "/shared")
		await(t, third.rec, messages.StateWatching)
		fourth := lockOutside(o, "/shared")
		awaitCount(t, at, "/shared", 4)
		queue := o.queue(t, "/shared")
		require.Equal(t, one.Node, queue[0])
		require.Empty(t, second.held)

		first.send(&messages.Release{})
		second.hold(t)
		o.awaitQueue(t, "/shared", queue[1:])
		require.Empty(t, third.told)

		require.NoError(t, second.Unlock())
		require.Equal(t, queue[2], third.hold(t).Node)
		o.awaitQueue(t, "/shared", queue[2:])
		require.Empty(t, fourth.held)

		third.send(&messages.Release{})
		fourth.hold(t)
		o.awaitQueue(t, "/shared", queue[3:])
		require.NoError(t, fourth.Unlock())
		awaitNone(t, at, "/shared")
	})
}

// TestBehindGoZookeepersLock: a holder of the other kind is a holder, also for one that only tries, and
// also where its session ends instead of giving back.
func TestBehindGoZookeepersLock(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		theirs := look(t, at)
		holder := lockOutside(theirs, "/behind")
		holder.hold(t)
		tried := s.spawnFor(t, messages.Acquire{Path: "/behind", Try: true})
		require.Equal(t, messages.ReasonNotAcquired, notice[*messages.Cancelled](t, tried).Reason)
		waiter := s.spawn(t, "/behind")
		await(t, waiter.rec, messages.StateWatching)
		require.Len(t, o.queue(t, "/behind"), 2)

		theirs.Close()
		held := waiter.hold(t)
		require.Equal(t, []string{held.Node}, o.queue(t, "/behind"))
	})
}
