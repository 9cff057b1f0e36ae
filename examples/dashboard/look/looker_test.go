package look

import (
	"fmt"
	"testing"
	"time"

	gozk "github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watch starts a looker on a server, and gives what it tells.
func watch(t *testing.T, zk *embedded.Server, most int) (*board.Board, *Looker) {
	t.Helper()
	b := board.New("/")
	l := Start(scene.Open(t, zk.Addr()), b, Settings{Root: "/", Every: 20 * time.Millisecond, Most: most})
	t.Cleanup(l.Close)
	return b, l
}

// figures gives the figures of a lock.
func figures(b *board.Board, path string) board.LockFigures {
	return b.Lock(time.Now(), path, board.Shown{}).Figures
}

// TestBusyQueue: a queue that changes all the time is read at a pace. The last reading shows its
// end, and no hand-off is lost from the count.
func TestBusyQueue(t *testing.T) {
	zk := embedded.Run(t)
	b, l := watch(t, zk, 10)
	client := scene.Open(t, zk.Addr())
	ctx := scene.Deadline(t)
	defer l.Open("/busy")()
	scene.Eventually(t, func() bool { return figures(b, "/busy").Known }, "it is looked at")
	const turns = 300
	for range turns {
		lease, err := client.Mutex("/busy").Lock(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(ctx))
	}
	last, err := client.Mutex("/busy", locks.WithLabel("last")).Lock(ctx)
	require.NoError(t, err)
	scene.Eventually(t, func() bool {
		v := b.Lock(time.Now(), "/busy", board.Shown{Holders: 1})
		return len(v.Holders) == 1 && v.Holders[0].Who == "last"
	}, "the last one holds")
	require.NoError(t, last.Unlock(ctx))
	scene.Eventually(t, func() bool { return figures(b, "/busy").State == board.Free }, "nobody holds")
}

// TestRevokeRequest: that somebody was asked is seen although nobody comes or goes.
func TestRevokeRequest(t *testing.T) {
	zk := embedded.Run(t)
	b, l := watch(t, zk, 10)
	client := scene.Open(t, zk.Addr())
	ctx := scene.Deadline(t)
	lease, err := client.Mutex("/lock", locks.WithLabel("holder")).Lock(ctx)
	require.NoError(t, err)
	scene.Eventually(t, func() bool { return figures(b, "/lock").State == board.Held }, "it is held")
	defer l.Open("/lock")()
	_, err = client.Revoke(ctx, "/lock")
	require.NoError(t, err)
	scene.Eventually(t, func() bool { return figures(b, "/lock").State == board.Revoking }, "it is asked for")
	v := b.Lock(time.Now(), "/lock", board.Shown{Holders: 1})
	require.Equal(t, "holder", v.Holders[0].Who, "who it is was read before")
	require.NoError(t, lease.Unlock(ctx))
}

// TestMoreLocksThanAreFollowed: of the others there are numbers; opening a page has its lock followed.
func TestMoreLocksThanAreFollowed(t *testing.T) {
	zk := embedded.Run(t)
	client := scene.Open(t, zk.Addr())
	ctx := scene.Deadline(t)
	for n := range 8 {
		lease, err := client.Mutex(fmt.Sprintf("/lock-%d", n)).Lock(ctx)
		require.NoError(t, err)
		defer func() { require.NoError(t, lease.Unlock(ctx)) }()
	}
	b, l := watch(t, zk, 3)
	states := func() (counted, held int) {
		for _, row := range b.Overview(time.Now(), "", 100).Locks {
			switch row.State {
			case board.Counted:
				counted++
			case board.Held:
				held++
			}
		}
		return counted, held
	}
	scene.Eventually(t, func() bool { counted, held := states(); return counted == 5 && held == 3 }, "three are followed")
	for n := range 8 {
		path := fmt.Sprintf("/lock-%d", n)
		closed := l.Open(path)
		scene.Eventually(t, func() bool { return figures(b, path).State == board.Held }, "%s is followed", path)
		closed()
	}
	scene.Eventually(t, func() bool { counted, held := states(); return counted == 5 && held == 3 }, "no more are followed than may be")
}

// TestUnreadable: a queue that may not be read says so, and so does the tree above it.
func TestUnreadable(t *testing.T) {
	zk := embedded.Run(t)
	owner := scene.Open(t, zk.Addr(), locks.WithAuth("digest", []byte("owner:secret")),
		locks.WithParentACL(gozk.AuthACL(gozk.PermAll)...))
	ctx := scene.Deadline(t)
	lease, err := owner.Mutex("/secret/lock").Lock(ctx)
	require.NoError(t, err)
	b, l := watch(t, zk, 10)
	scene.Eventually(t, func() bool { return b.Overview(time.Now(), "", 10).Figures.UnreadAt == "/secret" }, "the tree says so")
	defer l.Open("/secret/lock")()
	scene.Eventually(t, func() bool { return figures(b, "/secret/lock").State == board.Unread }, "the lock says so")
	require.NoError(t, lease.Unlock(ctx))
}

// TestPossibleDeadlock: a process that waits for what it holds is shown as one that may wait for ever, once it has
// waited for so long; a process that waits for another is not.
func TestPossibleDeadlock(t *testing.T) {
	zk := embedded.Run(t)
	b, _ := watch(t, zk, 10)
	client, ctx := scene.Open(t, zk.Addr()), scene.Deadline(t)
	lease, err := client.Mutex("/twice").Lock(ctx)
	require.NoError(t, err)
	again := make(chan *locks.Lease, 1)
	go func() {
		second, err := client.Mutex("/twice", locks.WithLabel("again")).Lock(ctx)
		assert.NoError(t, err)
		again <- second
	}()
	scene.Eventually(t, func() bool { return figures(b, "/twice").Possible }, "it is not seen")
	v := b.Lock(time.Now(), "/twice", board.Shown{Waiters: 1})
	require.False(t, v.Figures.Deadlock, "nobody knows for sure")
	require.Len(t, v.Possible, 1)
	require.Len(t, v.Possible[0].Members, 1)
	m := v.Possible[0].Members[0]
	require.Contains(t, m.Who, "process ")
	require.Equal(t, board.MemberRow{Who: m.Who, Keeps: "/twice", Holds: true, Waits: "/twice"}, m)
	all := b.Overview(time.Now(), "", 10)
	require.Equal(t, 1, all.Figures.Possible)
	require.Zero(t, all.Figures.Deadlocks)
	require.Equal(t, v.Possible, all.Possible)
	require.NoError(t, lease.Unlock(ctx))
	second := <-again
	require.NotNil(t, second)
	require.NoError(t, second.Unlock(ctx))
	scene.Eventually(t, func() bool { return !figures(b, "/twice").Possible }, "it is over")
}

// TestPossibleDeadlockHasToLast: one is shown when the same nodes have been part of it for so long, and not before.
func TestPossibleDeadlockHasToLast(t *testing.T) {
	l := &Looker{Settings: Settings{Suspect: time.Minute}}
	circle := func(holder string) []messages.Deadlock {
		return []messages.Deadlock{{Members: []messages.Member{{Keeps: messages.Contender{Path: "/x", Node: holder},
			Waits: messages.Contender{Path: "/x", Node: "waits"}}}}}
	}
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	require.Empty(t, l.lasting(at(0), circle("one")))
	require.Empty(t, l.lasting(at(59), circle("one")))
	require.Len(t, l.lasting(at(60), circle("one")), 1)
	require.Empty(t, l.lasting(at(61), circle("another")), "the lock was handed on")
	require.Empty(t, l.lasting(at(100), nil))
	require.Empty(t, l.lasting(at(130), circle("another")), "it was gone in between")
	require.Len(t, l.lasting(at(190), circle("another")), 1)
}
