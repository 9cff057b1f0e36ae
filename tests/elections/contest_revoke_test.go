package elections

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestContestSaysWhoHoldsAgain: a revoke request was meant for the holder before, and arrives when another has made
// the node anew: it names the one before. The new holder is asked, knows its node by the servers' numbers and not by
// what was written there, and soon the node names it again.
func TestContestSaysWhoHoldsAgain(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, asker, raw := at.Open(t), at.Open(t),
			at.Open(t), at.Raw(t)
		before := patient.Locked(t, one.Contest("/late", locks.WithLabel("before")).Lock)
		_, err := asker.Revoke(patient.Deadline(t), "/late")
		require.NoError(t, err)
		_, err = raw.Sync(at.Root() + "/late") // its member may lag
		require.NoError(t, err)
		late, _, err := raw.Get(at.Root() + "/late")
		require.NoError(t, err)
		require.Contains(t, string(late), "before")
		require.False(t, bytes.Contains(late, []byte(`"id"`)), "nobody knows its node by a request: %s", late)
		patient.GiveBack(t, before)

		lease := patient.Locked(t, two.Contest("/late", locks.WithLabel("now")).Lock)
		_, err = raw.Set(at.Root()+"/late", late, 0)
		require.NoError(t, err)
		patient.AwaitAsked(t, lease)
		patient.Eventually(t, func() bool {
			all := patient.QueueOf(t, asker, "/late")
			return len(all) == 1 && all[0].Label == "now" && all[0].Asked
		}, "it goes on naming the one before")
		require.True(t, lease.Valid())
		require.Equal(t, lease.Session(), patient.QueueOf(t, asker, "/late")[0].Session)
		patient.GiveBack(t, lease)
		stories.AwaitNone(t, at, "")
	})
}

// TestContestHearsRevokeRequest: also with its data replaced by the request, the node is known again.
func TestContestHearsRevokeRequest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		lease := patient.Locked(t, client.Contest("/arena/c").Lock)
		_, err := o.Set(at.Root()+"/arena/c", []byte("unlock"), -1)
		require.NoError(t, err)
		<-lease.Revoked()
		require.True(t, lease.Valid())
		_, err = client.Contest("/arena/c").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "another request of the session is not the holder")
		patient.GiveBack(t, lease)
		forced := patient.Locked(t, client.Contest("/arena/c", locks.WithGrace(time.Millisecond)).Lock)
		_, err = o.Set(at.Root()+"/arena/c", []byte("unlock"), -1)
		require.NoError(t, err)
		<-forced.Context().Done()
		require.ErrorIs(t, context.Cause(forced.Context()), locks.ErrRevoked)
		stories.AwaitNone(t, at, "/arena")
	})
}
