package elections

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLeaveBeforeItHasJoinedAgain: the session has expired, the member of the next one is there, and nobody knows it yet.
// Leave returns when the next session's member is gone, too.
func TestLeaveBeforeItHasJoinedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		member, err := client.Group("/members").Join(t.Context(), "one")
		require.NoError(t, err)
		synctest.Wait() // no request of its first node is on its way
		held, err := server.Inject(embedded.Fault{Path: "/members/**", Action: embedded.HoldReplies})
		require.NoError(t, err)
		require.NoError(t, server.Expire(client.Session().ID()))
		require.NoError(t, held.Wait(t.Context()))
		synctest.Wait() // it is carried out, too
		members, err := other.Group("/members").Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"one"}, dataOf(members), "it has joined again")

		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, member.Leave(soon), context.DeadlineExceeded)
		time.AfterFunc(time.Second, held.Release)
		require.NoError(t, member.Leave(t.Context()))
		members, err = other.Group("/members").Members(t.Context())
		require.NoError(t, err)
		require.Empty(t, members)
		require.NoError(t, member.Leave(t.Context()), "and again")
		require.NoError(t, member.Err())
	})
}

// TestMembershipThatEnds: where it cannot join again, it says so.
func TestMembershipThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		group := client.Group("/members")
		left, err := group.Join(t.Context(), "left")
		require.NoError(t, err)
		stays, err := group.Join(t.Context(), "stays")
		require.NoError(t, err)
		require.NoError(t, left.Leave(t.Context()))
		<-left.Done()
		require.NoError(t, left.Err())
		select {
		case <-stays.Done():
			t.Fatal("it is still there")
		default:
		}
		require.NoError(t, stays.Err())
		require.NoError(t, client.Close(t.Context()))
		<-stays.Done()
		require.ErrorIs(t, stays.Err(), locks.ErrClosed)
		require.ErrorIs(t, stays.Leave(t.Context()), locks.ErrClosed)
	})
}
