package tests

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// awaitLost waits until a holder is told that it has lost the lock.
func awaitLost(t *testing.T, lease *locks.Lease) {
	t.Helper()
	select {
	case <-lease.Context().Done():
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
	case <-time.After(bound):
		t.Fatalf("the holder of %s never hears that it was broken", lease.Path())
	}
}

// TestBreakTellsTheHolderAndLetsTheNextIn: in every kind of lock.
func TestBreakTellsTheHolderAndLetsTheNextIn(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two, operator := open(t, at.Connect()), open(t, at.Connect()), open(t, at.Connect())
		for _, k := range revocable {
			t.Run(k.name, func(t *testing.T) {
				path := "/broken/" + k.name
				var held []*locks.Lease
				for _, lock := range k.holders {
					lease, err := lock(one, path)(deadline(t))
					require.NoError(t, err)
					held = append(held, lease)
				}
				rec := recorder(t, two)
				got := elsewhere(deadline(t), k.waiter(two, path, observedBy(rec)))
				await(t, rec, messages.StateWatching)

				for _, c := range queueOf(t, operator, path) {
					if c.Holds {
						require.NoError(t, operator.Break(deadline(t), c))
						require.ErrorIs(t, operator.Break(deadline(t), c), locks.ErrGone)
					}
				}
				for _, lease := range held {
					awaitLost(t, lease)
					require.False(t, lease.Valid())
					require.ErrorIs(t, lease.Unlock(deadline(t)), locks.ErrLost)
				}
				next := receive(t, got)
				require.NoError(t, next.err)
				require.Greater(t, next.lease.Token(), held[len(held)-1].Token())
				giveBack(t, next.lease)
			})
		}
	})
}

// TestBreakOfAWaiter: it queues again at the end, and is let in when its turn comes.
func TestBreakOfAWaiter(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two := open(t, at.Connect()), open(t, at.Connect(), locks.WithSessionTimeout(short))
		held, err := one.Mutex("/pushed").Lock(deadline(t))
		require.NoError(t, err)
		rec := recorder(t, two)
		first := elsewhere(deadline(t), two.Mutex("/pushed", observedBy(rec)).Lock)
		node := await(t, rec, messages.StateWatching).Node
		second, _ := waiting(t, one, mutexOf(one, "/pushed"))

		all := queueOf(t, one, "/pushed")
		require.Equal(t, node, all[1].Node)
		require.NoError(t, one.Break(deadline(t), all[1]))
		_, err = rec.AwaitNth(deadline(t), messages.StateCreating, 2)
		require.NoError(t, err)
		awaitCount(t, at, "/pushed", 3)
		all = queueOf(t, one, "/pushed")
		require.Equal(t, two.Session().ID(), all[2].Session)

		giveBack(t, held)
		a := receive(t, second)
		require.NoError(t, a.err)
		giveBack(t, a.lease)
		a = receive(t, first)
		require.NoError(t, a.err)
		require.NotEqual(t, node, a.lease.Node())
		_ = a.lease.Unlock(deadline(t)) // its session is short: a slow machine may lose it
	})
}

// TestBreakSparesWhoCameLater: a contest's next holder is at the path of the one before.
func TestBreakSparesWhoCameLater(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two := open(t, at.Connect()), open(t, at.Connect())
		before, err := one.Contest("/prize").Lock(deadline(t))
		require.NoError(t, err)
		seen := queueOf(t, two, "/prize")[0]
		giveBack(t, before)
		after, err := one.Contest("/prize").Lock(deadline(t))
		require.NoError(t, err)
		err = two.Break(deadline(t), seen)
		require.ErrorIs(t, err, locks.ErrGone)
		require.ErrorContains(t, err, "/prize")
		require.Equal(t, after.Token(), queueOf(t, two, "/prize")[0].Token)
		require.True(t, after.Valid())
		giveBack(t, after)
	})
}

// TestBreakOfWhatIsNoContender: is refused before anything is sent.
func TestBreakOfWhatIsNoContender(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, o := open(t, at.Connect()), look(t, at)
		o.plant(t, "/kept/config", "")
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
			require.ErrorIs(t, client.Break(deadline(t), c.bad), c.want, "%+v", c.bad)
		}
		require.Equal(t, []string{"config"}, at.Children(t, o.Conn, "/kept"))
	})
}

// TestBreakOfWhatMayNotBeDeleted: says so, and the holder goes on; in a contest it has been asked, for that comes first.
func TestBreakOfWhatMayNotBeDeleted(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		o, client := look(t, at), open(t, at.Connect())
		_, err := o.Create(at.Root()+"/kept", nil, 0, zk.WorldACL(zk.PermRead|zk.PermWrite|zk.PermCreate))
		require.NoError(t, err)
		for _, name := range []string{"lock-0000000001", "prize"} {
			_, err = o.Create(at.Root()+"/kept/"+name, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
		}
		for _, path := range []string{"/kept", "/kept/prize"} {
			all := queueOf(t, client, path)
			require.Len(t, all, 1)
			require.ErrorIs(t, client.Break(deadline(t), all[0]), zkconn.ErrNoAuth)
			after := queueOf(t, client, path)
			require.Len(t, after, 1)
			require.Equal(t, path == "/kept/prize", after[0].Asked)
		}
	})
}
