package elections

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// next takes what an observer is told, until it is what is waited for.
func next[T any](t *testing.T, told <-chan T, is func(T) bool) T {
	t.Helper()
	for late := time.After(scene.Bound); ; {
		select {
		case got, open := <-told:
			require.True(t, open, "the channel is closed")
			if is(got) {
				return got
			}
		case <-late:
			t.Fatal("it is never told")
		}
	}
}

func nextLeader(t *testing.T, told <-chan locks.Leader, value string) locks.Leader {
	t.Helper()
	return next(t, told, func(leader locks.Leader) bool { return leader.Value == value })
}

func TestElection(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		one, two, third := zk.Open(t), zk.Open(t), zk.Open(t)
		ctx, cancel := context.WithCancel(scene.Deadline(t))
		told, err := third.Election("/lead").Observe(ctx)
		require.NoError(t, err)
		require.Zero(t, nextLeader(t, told, "").Token, "nobody leads, and there is no lock path yet")
		_, err = third.Election("/lead").Leader(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNoLeader)

		first, err := one.Election("/lead").Campaign(scene.Deadline(t), "one:80")
		require.NoError(t, err)
		require.Equal(t, "one:80", first.Value())
		require.Equal(t, first.Token(), nextLeader(t, told, "one:80").Token)
		leader, err := two.Election("/lead").Leader(scene.Deadline(t))
		require.NoError(t, err)
		require.Equal(t, "one:80", leader.Value)
		require.Equal(t, first.Node(), leader.Contender.Node)

		got := make(chan *locks.Leadership, 1)
		go func() {
			second, err := two.Election("/lead").Campaign(scene.Deadline(t), "two:80")
			assert.NoError(t, err)
			got <- second
		}()
		require.NoError(t, first.Resign(scene.Deadline(t)))
		second := <-got
		require.NotNil(t, second)
		require.Greater(t, second.Token(), first.Token())
		require.Equal(t, second.Token(), nextLeader(t, told, "two:80").Token)

		require.NoError(t, two.Close(scene.Deadline(t)))
		require.ErrorIs(t, context.Cause(second.Context()), locks.ErrLost)
		nextLeader(t, told, "")
		cancel()
		require.Eventually(t, func() bool { _, open := <-told; return !open }, scene.Bound, time.Millisecond)
	})
}

// TestLeadersOfOneSession: campaigns of one session at the same time have nodes of one transaction.
// Observe tells of each as a leader of its own, with the token of its lease.
func TestLeadersOfOneSession(t *testing.T) {
	zk := scene.OnEmbedded(t)
	one, other := zk.Open(t), zk.Open(t)
	told, err := other.Election("/lead").Observe(scene.Deadline(t))
	require.NoError(t, err)
	first, err := one.Election("/lead").Campaign(scene.Deadline(t), "first")
	require.NoError(t, err)
	const campaigners = 8
	got := make(chan *locks.Leadership, campaigners)
	for i := range campaigners {
		go func() {
			leadership, err := one.Election("/lead").Campaign(scene.Deadline(t), fmt.Sprint(i))
			assert.NoError(t, err)
			got <- leadership
		}()
	}
	scene.Eventually(t, func() bool {
		queue, err := other.Queue(scene.Deadline(t), "/lead")
		return err == nil && len(queue) == campaigners+1
	}, "all campaign")
	require.NoError(t, first.Resign(scene.Deadline(t)))
	for range campaigners {
		leadership := <-got
		require.NotNil(t, leadership)
		require.Equal(t, leadership.Token(), nextLeader(t, told, leadership.Value()).Token)
		require.NoError(t, leadership.Resign(scene.Deadline(t)))
	}
}

func TestElectionRefuses(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	_, err := client.Election("bad").Campaign(scene.Deadline(t), "x")
	require.ErrorIs(t, err, zkconn.ErrBadPath)
	_, err = client.Election("bad").Leader(scene.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrBadPath)
	_, err = client.Election("bad").Observe(scene.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrBadPath)
	for _, bad := range []locks.ElectionOption{locks.WithSticky(time.Minute), locks.WithPriority(-1, 0)} {
		_, err = client.Election("/lead", bad).Campaign(scene.Deadline(t), "x")
		require.ErrorIs(t, err, actors.ErrBadAcquire)
	}
	require.NoError(t, client.Close(scene.Deadline(t)))
	_, err = client.Election("/lead").Observe(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrClosed)
	_, err = client.Election("/lead").Campaign(scene.Deadline(t), "x")
	require.ErrorIs(t, err, locks.ErrClosed)
}
