package elections

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestContestMeetsFaults: what was lost on the way is found out by reading the node.
func TestContestMeetsFaults(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]rig.Rule{
		"the create's reply is lost": {Op: rig.OpCreate, Action: rig.DropReply},
		"the create is cut off":      {Op: rig.OpCreate, Action: rig.CutBefore},
		"the delete's reply is lost": {Op: rig.OpDelete, Action: rig.DropReply},
		"the delete is cut off":      {Op: rig.OpDelete, Action: rig.CutBefore},
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
				proxy := zk.Proxy(t)
				one, two := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
				stories.Look(t, zk).Plant(t, "/arena", "")
				rule := rule
				rule.Path = func(path string) bool { return strings.HasSuffix(path, "/arena/c") }
				fault := proxy.Expect(rule)
				lease, err := one.Contest("/arena/c").Lock(patient.Deadline(t))
				require.NoError(t, err)
				require.True(t, lease.Valid())
				for _, client := range []*locks.Client{one, two} {
					_, err = client.Contest("/arena/c").TryLock(patient.Deadline(t))
					require.ErrorIs(t, err, locks.ErrNotAcquired)
				}
				children := zk.Children(t, zk.Raw(t), "/arena")
				require.Len(t, children, 2, "one node, and its guard")
				require.Contains(t, children, "c")
				patient.GiveBack(t, lease)
				<-fault.Fired()
				next := patient.Locked(t, two.Contest("/arena/c").Lock)
				require.Greater(t, next.Token(), lease.Token())
				patient.GiveBack(t, next)
				require.Empty(t, zk.Children(t, zk.Raw(t), "/arena"))
			})
		})
	}
}

// TestContestNodeIsReplaced: somebody else's node stands where ours was. The lease is lost, and theirs stays,
// whether we give ours back before we hear of it or after.
func TestContestNodeIsReplaced(t *testing.T) {
	replace := func(t *testing.T, o stories.Outside) {
		require.NoError(t, o.Delete(o.At.Root()+"/arena/c", -1))
		_, err := o.Create(o.At.Root()+"/arena/c", []byte("theirs"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		rec := patient.Recorder(t, client)
		lease := patient.Locked(t, client.Contest("/arena/c", patient.ObservedBy(rec)).Lock)
		patient.CatchUp(t, client)
		replace(t, o)
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrLost)
		_, err := client.Contest("/arena/c").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		data, _, err := o.Get(at.Root() + "/arena/c")
		require.NoError(t, err)
		require.Equal(t, "theirs", string(data))

		waiting := patient.Elsewhere(patient.Deadline(t), client.Contest("/arena/c").Lock)
		require.NoError(t, o.Delete(at.Root()+"/arena/c", -1))
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		// Unlock is asked for before anybody hears that the node is another's.
		proxy := at.Proxy(t)
		other := patient.Open(t, proxy.Addr()+at.Root())
		patient.GiveBack(t, got.Lease)
		lease = patient.Locked(t, other.Contest("/arena/c").Lock)
		patient.CatchUp(t, other)
		proxy.Hold(true)
		replace(t, o)
		done := make(chan error, 1)
		go func() { done <- lease.Unlock(patient.Deadline(t)) }()
		proxy.Hold(false)
		if err := <-done; err != nil { // which of the two was first is open
			require.ErrorIs(t, err, locks.ErrLost)
		}
		data, _, err = o.Get(at.Root() + "/arena/c")
		require.NoError(t, err, "theirs stays")
		require.Equal(t, "theirs", string(data))
	})
}

// TestContestSurvivesACutAndNotAnExpiry as any lease does.
func TestContestSurvivesACutAndNotAnExpiry(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		f := stage.NewFragile(t, at)
		holder := f.SpawnFor(t, messages.Acquire{Path: "/arena/c", Mode: messages.Contest})
		held := holder.Hold(t)
		waiter := f.SpawnFor(t, messages.Acquire{Path: "/arena/c", Mode: messages.Contest})
		patient.Await(t, waiter.Rec, messages.StateWatching)
		f.Proxy.Cut()
		_, err := holder.Rec.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
		require.NoError(t, err)
		f.Expire(t)
		all := holder.Finish(t)
		require.IsType(t, &messages.Lost{}, all[len(all)-1])
		require.Greater(t, waiter.Hold(t).Token, held.Token)
		waiter.Send(&messages.Release{})
		waiter.Finish(t)
		stories.AwaitNone(t, at, "/arena")
	})
}
