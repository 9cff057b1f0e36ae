package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// nextLeader takes what an observer is told, until it is the one that is waited for.
func nextLeader(t *testing.T, told <-chan locks.Leader, value string) locks.Leader {
	t.Helper()
	for {
		select {
		case leader, open := <-told:
			require.True(t, open, "the channel is closed")
			if leader.Value == value {
				return leader
			}
		case <-time.After(bound):
			t.Fatalf("%q is never told", value)
		}
	}
}

func TestElection(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two, third := open(t, zk.Connect()), open(t, zk.Connect()), open(t, zk.Connect())
		ctx, cancel := context.WithCancel(deadline(t))
		told, err := third.Election("/lead").Observe(ctx)
		require.NoError(t, err)
		require.Zero(t, nextLeader(t, told, "").Token, "nobody leads, and there is no lock path yet")
		_, err = third.Election("/lead").Leader(deadline(t))
		require.ErrorIs(t, err, locks.ErrNoLeader)

		first, err := one.Election("/lead").Campaign(deadline(t), "one:80")
		require.NoError(t, err)
		require.Equal(t, "one:80", first.Value())
		require.Equal(t, first.Token(), nextLeader(t, told, "one:80").Token)
		leader, err := two.Election("/lead").Leader(deadline(t))
		require.NoError(t, err)
		require.Equal(t, "one:80", leader.Value)
		require.Equal(t, first.Node(), leader.Contender.Node)

		got := make(chan *locks.Leadership, 1)
		go func() {
			second, err := two.Election("/lead").Campaign(deadline(t), "two:80")
			assert.NoError(t, err)
			got <- second
		}()
		require.NoError(t, first.Resign(deadline(t)))
		second := <-got
		require.NotNil(t, second)
		require.Greater(t, second.Token(), first.Token())
		require.Equal(t, second.Token(), nextLeader(t, told, "two:80").Token)

		require.NoError(t, two.Close(deadline(t)))
		require.ErrorIs(t, context.Cause(second.Context()), locks.ErrLost)
		nextLeader(t, told, "")
		cancel()
		require.Eventually(t, func() bool { _, open := <-told; return !open }, bound, time.Millisecond)
	})
}

// TestLeadersOfOneSession: who campaigns in one session at the same time has nodes of one transaction; each is told as
// a leader of its own, with the token of its lease.
func TestLeadersOfOneSession(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, other := open(t, zk.Connect()), open(t, zk.Connect())
		told, err := other.Election("/lead").Observe(deadline(t))
		require.NoError(t, err)
		first, err := one.Election("/lead").Campaign(deadline(t), "first")
		require.NoError(t, err)
		const campaigners = 8
		got := make(chan *locks.Leadership, campaigners)
		for i := range campaigners {
			go func() {
				leadership, err := one.Election("/lead").Campaign(deadline(t), fmt.Sprint(i))
				assert.NoError(t, err)
				got <- leadership
			}()
		}
		eventually(t, func() bool {
			queue, err := other.Queue(deadline(t), "/lead")
			return err == nil && len(queue) == campaigners+1
		}, "all campaign")
		require.NoError(t, first.Resign(deadline(t)))
		for range campaigners {
			leadership := <-got
			require.NotNil(t, leadership)
			require.Equal(t, leadership.Token(), nextLeader(t, told, leadership.Value()).Token)
			require.NoError(t, leadership.Resign(deadline(t)))
		}
	})
}

// TestObserverOutlivesItsConnection: it is told what changed meanwhile.
func TestObserverOutlivesItsConnection(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		watching, other := open(t, proxy.Addr()+zk.Root()), open(t, zk.Connect())
		first, err := other.Election("/lead").Campaign(deadline(t), "first")
		require.NoError(t, err)
		told, err := watching.Election("/lead").Observe(deadline(t))
		require.NoError(t, err)
		nextLeader(t, told, "first")
		proxy.Refuse(true)
		proxy.Cut()
		require.NoError(t, first.Resign(deadline(t)))
		_, err = other.Election("/lead").Campaign(deadline(t), "second")
		require.NoError(t, err)
		proxy.Refuse(false)
		nextLeader(t, told, "second")
		require.NoError(t, watching.Close(deadline(t)))
		for range told { // it ends with the client
		}
	})
}

func TestElectionRefuses(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		_, err := client.Election("bad").Campaign(deadline(t), "x")
		require.ErrorIs(t, err, zkconn.ErrBadPath)
		_, err = client.Election("bad").Leader(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrBadPath)
		_, err = client.Election("bad").Observe(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrBadPath)
		_, err = client.Election("/lead", locks.WithSticky(time.Minute)).Campaign(deadline(t), "x")
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		require.NoError(t, client.Close(deadline(t)))
		_, err = client.Election("/lead").Observe(deadline(t))
		require.ErrorIs(t, err, locks.ErrClosed)
		_, err = client.Election("/lead").Campaign(deadline(t), "x")
		require.ErrorIs(t, err, locks.ErrClosed)
	})
}
