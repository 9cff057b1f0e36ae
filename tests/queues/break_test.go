package queues

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestBreakTellsTheHolderAndLetsTheNextIn: in every kind of lock.
func TestBreakTellsTheHolderAndLetsTheNextIn(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		one, two, operator := at.Open(t), at.Open(t), at.Open(t)
		for name, k := range revocable {
			t.Run(name, func(t *testing.T) {
				path := "/broken/" + name
				held, next := k.occupied(t, path, []*locks.Client{one, two})
				for _, c := range scene.QueueOf(t, operator, path) {
					if c.Holds {
						require.NoError(t, operator.Break(scene.Deadline(t), c))
						require.ErrorIs(t, operator.Break(scene.Deadline(t), c), locks.ErrGone)
					}
				}
				for _, lease := range held {
					scene.AwaitLost(t, lease)
					require.False(t, lease.Valid())
					require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrLost)
				}
				require.Greater(t, next.Passes(t).Token(), held[len(held)-1].Token())
			})
		}
	})
}

// TestBreakOfAWaiter: it queues again at the end, and is let in when its turn comes.
func TestBreakOfAWaiter(t *testing.T) {
	at := scene.OnEmbedded(t)
	one, two := at.Open(t), at.Open(t, locks.WithSessionTimeout(12*time.Second))
	held := scene.LockAt(t, one, "/pushed")
	first, second := scene.Queue(t, two, "/pushed"), scene.Queue(t, one, "/pushed")
	broken := scene.QueueOf(t, one, "/pushed")[1]
	require.NoError(t, one.Break(scene.Deadline(t), broken))
	_, err := first.Rec.AwaitNth(scene.Deadline(t), messages.StateCreating, 2)
	require.NoError(t, err)
	scene.AwaitCount(t, at, "/pushed", 3)
	require.Equal(t, two.Session().ID(), scene.QueueOf(t, one, "/pushed")[2].Session)
	scene.GiveBack(t, held)
	second.Passes(t)
	lease := first.Granted(t)
	require.NotEqual(t, broken.Node, lease.Node())
	_ = lease.Unlock(scene.Deadline(t)) // its session is short: a slow machine may lose it
}

// TestBreakOfWhatIsNoContender: is refused before anything is sent. A contest's next holder, at the path of the one before, is
// spared.
func TestBreakOfWhatIsNoContender(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
	o.Plant(t, "/kept/config", "")
	before := scene.Contest.Holds(t, client, "/kept/prize")
	seen := scene.QueueOf(t, client, "/kept/prize")[0]
	scene.GiveBack(t, before)
	after := scene.Contest.Holds(t, client, "/kept/prize")
	token := messages.Token(1 << 20)
	for _, c := range []struct {
		bad  messages.Contender
		want error
	}{
		{messages.Contender{}, zkconn.ErrBadPath},
		{messages.Contender{Path: "/kept", Token: token}, zkconn.ErrBadPath},
		{messages.Contender{Path: "kept", Node: "lock-0000000001", Token: token}, zkconn.ErrBadPath},
		{messages.Contender{Path: "/kept", Node: "config", Token: token}, actors.ErrBadAcquire},
		{messages.Contender{Path: "/kept", Node: "lock-0000000001"}, actors.ErrBadAcquire},
		{messages.Contender{Path: "/kept", Node: "lock-0000000001", Token: token}, locks.ErrGone},
		{messages.Contender{Path: "/none", Node: "lock-0000000001", Token: token}, locks.ErrGone},
		{seen, locks.ErrGone},
	} {
		err := client.Break(scene.Deadline(t), c.bad)
		require.ErrorIs(t, err, c.want, "%+v", c.bad)
		require.ErrorContains(t, err, c.bad.Path)
	}
	scene.GiveBack(t, after)
	require.Equal(t, []string{"config"}, at.Children(t, o.Conn, "/kept"))
}

// TestBreakOfWhatMayNotBeDeleted: says so, and the holder goes on; in a contest it has been asked, for that comes first.
func TestBreakOfWhatMayNotBeDeleted(t *testing.T) {
	at := scene.OnEmbedded(t)
	o, client := scene.Look(t, at), at.Open(t)
	_, err := o.Create(at.Root()+"/kept", nil, 0, zk.WorldACL(zk.PermRead|zk.PermWrite|zk.PermCreate))
	require.NoError(t, err)
	for _, name := range []string{"lock-0000000001", "prize"} {
		_, err = o.Create(at.Root()+"/kept/"+name, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	for _, path := range []string{"/kept", "/kept/prize"} {
		all := scene.QueueOf(t, client, path)
		require.Len(t, all, 1)
		require.ErrorIs(t, client.Break(scene.Deadline(t), all[0]), zkconn.ErrNoAuth)
		after := scene.QueueOf(t, client, path)
		require.Len(t, after, 1)
		require.Equal(t, path == "/kept/prize", after[0].Asked)
	}
}

// TestFaultsOfRevokeAndBreak: a request that is lost, or whose reply is, is followed to its end. The holder is asked, and then
// its node is deleted once.
func TestFaultsOfRevokeAndBreak(t *testing.T) {
	at := scene.OnEmbedded(t)
	holder, proxy := at.Open(t), at.Proxy(t)
	operator := scene.Open(t, proxy.Addr()+at.Root())
	for _, action := range []rig.Action{rig.DropReply, rig.CutBefore} {
		lease := scene.LockAt(t, holder, "/faults")
		fault := proxy.Expect(rig.Rule{Op: rig.OpSetData, Action: action})
		asked, err := operator.Revoke(scene.Deadline(t), "/faults")
		require.NoError(t, err)
		require.Equal(t, []string{lease.Node()}, nodesOf(asked))
		<-fault.Fired()
		scene.AwaitAsked(t, lease)
		fault = proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: action})
		require.NoError(t, operator.Break(scene.Deadline(t), asked[0]))
		<-fault.Fired()
		scene.AwaitLost(t, lease)
		require.Empty(t, scene.QueueOf(t, operator, "/faults"))
		require.ErrorIs(t, operator.Break(scene.Deadline(t), asked[0]), locks.ErrGone)
	}
}
