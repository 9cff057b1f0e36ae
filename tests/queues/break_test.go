package queues

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestBreakTellsTheHolderAndLetsTheNextIn: in every kind of lock.
func TestBreakTellsTheHolderAndLetsTheNextIn(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, operator := at.Open(t), at.Open(t), at.Open(t)
		for _, k := range revocable {
			t.Run(k.name, func(t *testing.T) {
				path := "/broken/" + k.name
				held, got := occupied(t, path, k.holders, k.waiter, []*locks.Client{one, two})
				for _, c := range patient.QueueOf(t, operator, path) {
					if c.Holds {
						require.NoError(t, operator.Break(patient.Deadline(t), c))
						require.ErrorIs(t, operator.Break(patient.Deadline(t), c), locks.ErrGone)
					}
				}
				for _, lease := range held {
					patient.AwaitLost(t, lease)
					require.False(t, lease.Valid())
					require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrLost)
				}
				next := patient.Receive(t, got)
				require.NoError(t, next.Err)
				require.Greater(t, next.Lease.Token(), held[len(held)-1].Token())
				patient.GiveBack(t, next.Lease)
			})
		}
	})
}

// TestBreakOfAWaiter: it queues again at the end, and is let in when its turn comes.
func TestBreakOfAWaiter(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two := at.Open(t), at.Open(t, locks.WithSessionTimeout(12*time.Second))
		held := patient.Locked(t, one.Mutex("/pushed").Lock)
		rec := patient.Recorder(t, two)
		first := patient.Elsewhere(patient.Deadline(t), two.Mutex("/pushed", patient.ObservedBy(rec)).Lock)
		node := patient.Await(t, rec, messages.StateWatching).Node
		second, _ := waiting(t, one, mutexOf(one, "/pushed"))

		all := patient.QueueOf(t, one, "/pushed")
		require.Equal(t, node, all[1].Node)
		require.NoError(t, one.Break(patient.Deadline(t), all[1]))
		_, err := rec.AwaitNth(patient.Deadline(t), messages.StateCreating, 2)
		require.NoError(t, err)
		stories.AwaitCount(t, at, "/pushed", 3)
		all = patient.QueueOf(t, one, "/pushed")
		require.Equal(t, two.Session().ID(), all[2].Session)

		patient.GiveBack(t, held)
		a := patient.Receive(t, second)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease)
		a = patient.Receive(t, first)
		require.NoError(t, a.Err)
		require.NotEqual(t, node, a.Lease.Node())
		_ = a.Lease.Unlock(patient.Deadline(t)) // its session is short: a slow machine may lose it
	})
}

// TestBreakSparesWhoCameLater: a contest's next holder is at the path of the one before.
func TestBreakSparesWhoCameLater(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two := at.Open(t), at.Open(t)
		before := patient.Locked(t, one.Contest("/prize").Lock)
		seen := patient.QueueOf(t, two, "/prize")[0]
		patient.GiveBack(t, before)
		after := patient.Locked(t, one.Contest("/prize").Lock)
		err := two.Break(patient.Deadline(t), seen)
		require.ErrorIs(t, err, locks.ErrGone)
		require.ErrorContains(t, err, "/prize")
		require.Equal(t, after.Token(), patient.QueueOf(t, two, "/prize")[0].Token)
		require.True(t, after.Valid())
		patient.GiveBack(t, after)
	})
}

// TestBreakOfWhatIsNoContender: is refused before anything is sent.
func TestBreakOfWhatIsNoContender(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		o.Plant(t, "/kept/config", "")
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
		} {
			require.ErrorIs(t, client.Break(patient.Deadline(t), c.bad), c.want, "%+v", c.bad)
		}
		require.Equal(t, []string{"config"}, at.Children(t, o.Conn, "/kept"))
	})
}

// TestBreakOfWhatMayNotBeDeleted: says so, and the holder goes on; in a contest it has been asked, for that comes first.
func TestBreakOfWhatMayNotBeDeleted(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		o, client := stories.Look(t, at), at.Open(t)
		_, err := o.Create(at.Root()+"/kept", nil, 0, zk.WorldACL(zk.PermRead|zk.PermWrite|zk.PermCreate))
		require.NoError(t, err)
		for _, name := range []string{"lock-0000000001", "prize"} {
			_, err = o.Create(at.Root()+"/kept/"+name, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
		}
		for _, path := range []string{"/kept", "/kept/prize"} {
			all := patient.QueueOf(t, client, path)
			require.Len(t, all, 1)
			require.ErrorIs(t, client.Break(patient.Deadline(t), all[0]), zkconn.ErrNoAuth)
			after := patient.QueueOf(t, client, path)
			require.Len(t, after, 1)
			require.Equal(t, path == "/kept/prize", after[0].Asked)
		}
	})
}
