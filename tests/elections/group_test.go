package elections

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

func dataOf(members []locks.Member) []string {
	all := []string{}
	for _, m := range members {
		all = append(all, m.Data)
	}
	return all
}

func nextMembers(t *testing.T, told <-chan []locks.Member, want ...string) []locks.Member {
	t.Helper()
	return next(t, told, func(members []locks.Member) bool { return slices.Equal(dataOf(members), want) })
}

// TestGroup: members see each other come and go, with what they joined with.
func TestGroup(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		one, two, watching := zk.Open(t), zk.Open(t), zk.Open(t)
		group := watching.Group("/members")
		none, err := group.Members(scene.Deadline(t))
		require.NoError(t, err)
		require.Empty(t, none)
		ctx, cancel := context.WithCancel(scene.Deadline(t))
		told, err := group.Watch(ctx)
		require.NoError(t, err)
		nextMembers(t, told)
		first, err := one.Group("/members").Join(scene.Deadline(t), "one:80")
		require.NoError(t, err)
		nextMembers(t, told, "one:80")
		_, err = two.Group("/members").Join(scene.Deadline(t), "two:80")
		require.NoError(t, err)
		members := nextMembers(t, told, "one:80", "two:80")
		require.Equal(t, first.ID(), members[0].ID)
		require.NotEmpty(t, members[0].Host)
		require.NotZero(t, members[0].PID)
		now, err := group.Members(scene.Deadline(t))
		require.NoError(t, err)
		require.Equal(t, members, now)
		require.NoError(t, first.Leave(scene.Deadline(t)))
		nextMembers(t, told, "two:80")
		require.NoError(t, two.Close(scene.Deadline(t)))
		nextMembers(t, told)
		cancel()
		require.Eventually(t, func() bool { _, open := <-told; return !open }, scene.Bound, time.Millisecond)
		_, err = one.Group("bad").Join(scene.Deadline(t), "x")
		require.ErrorIs(t, err, locks.ErrBadPath)
		_, err = one.Group("bad").Watch(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrBadPath)
	})
}

// TestGroupOutlivesSessions: a member whose session expires joins again, and one that leaves meanwhile does not.
func TestGroupOutlivesSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		d := &scene.Network{Server: server}
		client, other := scene.ClientOver(t, server, d), scene.Client(t, server)
		told, err := other.Group("/members").Watch(t.Context())
		require.NoError(t, err)
		member, err := client.Group("/members").Join(t.Context(), "one")
		require.NoError(t, err)
		was := member.ID()
		nextMembers(t, told, "one")
		d.Outage(time.Second)
		time.Sleep(time.Minute)
		require.Equal(t, was, member.ID(), "a short outage changes nothing")
		require.Empty(t, told)
		d.Outage(time.Minute)
		nextMembers(t, told)
		nextMembers(t, told, "one")
		time.Sleep(time.Second)
		require.NotEqual(t, was, member.ID())
		go d.Outage(time.Minute)
		time.Sleep(30 * time.Second) // its session is over, and it has not joined again
		require.NoError(t, member.Leave(t.Context()))
		time.Sleep(10 * time.Minute)
		nextMembers(t, told)
		require.Empty(t, told)
		again, err := client.Group("/members").Join(t.Context(), "again")
		require.NoError(t, err)
		require.NoError(t, client.Close(t.Context()))
		require.ErrorIs(t, again.Leave(t.Context()), locks.ErrClosed)
	})
}
