package tests

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestContestAmongMany: several contenders in each of several sessions; one holds at a time, and each gets its turn.
func TestContestAmongMany(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		var holding sync.Mutex
		var all sync.WaitGroup
		for range 3 {
			client := open(t, zk.Connect())
			for range 4 {
				all.Go(func() {
					for range 3 {
						lease, err := client.Contest("/arena/many").Lock(deadline(t))
						if !assert.NoError(t, err) {
							return
						}
						assert.True(t, holding.TryLock(), "two hold")
						assert.True(t, lease.Valid())
						holding.Unlock()
						assert.NoError(t, lease.Unlock(deadline(t)))
					}
				})
			}
		}
		all.Wait()
		awaitNone(t, zk, "/arena")
	})
}

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
			eachServer(t, func(t *testing.T, zk *servers) {
				proxy := zk.Proxy(t)
				one, two := open(t, proxy.Addr()+zk.Root()), open(t, zk.Connect())
				look(t, zk).plant(t, "/arena", "")
				rule := rule
				rule.Path = func(path string) bool { return strings.HasSuffix(path, "/arena/c") }
				fault := proxy.Expect(rule)
				lease, err := one.Contest("/arena/c").Lock(deadline(t))
				require.NoError(t, err)
				require.True(t, lease.Valid())
				for _, client := range []*locks.Client{one, two} {
					_, err = client.Contest("/arena/c").TryLock(deadline(t))
					require.ErrorIs(t, err, locks.ErrNotAcquired)
				}
				require.Equal(t, []string{"c"}, zk.Children(t, zk.Raw(t), "/arena"))
				require.NoError(t, lease.Unlock(deadline(t)))
				<-fault.Fired()
				next, err := two.Contest("/arena/c").Lock(deadline(t))
				require.NoError(t, err)
				require.Greater(t, next.Token(), lease.Token())
				require.NoError(t, next.Unlock(deadline(t)))
				require.Empty(t, zk.Children(t, zk.Raw(t), "/arena"))
			})
		})
	}
}

// TestContestNodeIsReplaced: somebody else's node stands where ours was. The lease is lost, and theirs stays,
// whether we give ours back before we hear of it or after.
func TestContestNodeIsReplaced(t *testing.T) {
	replace := func(t *testing.T, o outside) {
		require.NoError(t, o.Delete(o.at.Root()+"/arena/c", -1))
		_, err := o.Create(o.at.Root()+"/arena/c", []byte("theirs"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	eachServer(t, func(t *testing.T, at *servers) {
		client, o := open(t, at.Connect()), look(t, at)
		rec := recorder(t, client)
		lease, err := client.Contest("/arena/c", observedBy(rec)).Lock(deadline(t))
		require.NoError(t, err)
		settle(t, client)
		replace(t, o)
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.ErrorIs(t, lease.Unlock(deadline(t)), locks.ErrLost)
		_, err = client.Contest("/arena/c").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		data, _, err := o.Get(at.Root() + "/arena/c")
		require.NoError(t, err)
		require.Equal(t, "theirs", string(data))

		waiting := elsewhere(deadline(t), client.Contest("/arena/c").Lock)
		require.NoError(t, o.Delete(at.Root()+"/arena/c", -1))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		// Unlock is asked for before anybody hears that the node is another's.
		proxy := at.Proxy(t)
		other := open(t, proxy.Addr()+at.Root())
		require.NoError(t, got.lease.Unlock(deadline(t)))
		lease, err = other.Contest("/arena/c").Lock(deadline(t))
		require.NoError(t, err)
		settle(t, other)
		proxy.Hold(true)
		replace(t, o)
		done := make(chan error, 1)
		go func() { done <- lease.Unlock(deadline(t)) }()
		proxy.Hold(false)
		if err := <-done; err != nil { // which of the two was first is open
			require.ErrorIs(t, err, locks.ErrLost)
		}
		data, _, err = o.Get(at.Root() + "/arena/c")
		require.NoError(t, err, "theirs stays")
		require.Equal(t, "theirs", string(data))
	})
}

// TestContestHearsRevokeRequest: also with its data replaced by the request, the node is known again.
func TestContestHearsRevokeRequest(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, o := open(t, at.Connect()), look(t, at)
		lease, err := client.Contest("/arena/c").Lock(deadline(t))
		require.NoError(t, err)
		_, err = o.Set(at.Root()+"/arena/c", []byte("unlock"), -1)
		require.NoError(t, err)
		<-lease.Revoked()
		require.True(t, lease.Valid())
		_, err = client.Contest("/arena/c").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "another request of the session is not the holder")
		require.NoError(t, lease.Unlock(deadline(t)))
		forced, err := client.Contest("/arena/c", locks.WithGrace(time.Millisecond)).Lock(deadline(t))
		require.NoError(t, err)
		_, err = o.Set(at.Root()+"/arena/c", []byte("unlock"), -1)
		require.NoError(t, err)
		<-forced.Context().Done()
		require.ErrorIs(t, context.Cause(forced.Context()), locks.ErrRevoked)
		awaitNone(t, at, "/arena")
	})
}

// TestContestSurvivesACutAndNotAnExpiry as any lease does.
func TestContestSurvivesACutAndNotAnExpiry(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		f := newFragile(t, at)
		holder := f.spawnFor(t, messages.Acquire{Path: "/arena/c", Mode: messages.Contest})
		held := holder.hold(t)
		waiter := f.spawnFor(t, messages.Acquire{Path: "/arena/c", Mode: messages.Contest})
		await(t, waiter.rec, messages.StateWatching)
		f.proxy.Cut()
		_, err := holder.rec.AwaitNth(deadline(t), messages.StateHeld, 2)
		require.NoError(t, err)
		f.expire(t)
		all := holder.finish(t)
		require.IsType(t, &messages.Lost{}, all[len(all)-1])
		require.Greater(t, waiter.hold(t).Token, held.Token)
		waiter.send(&messages.Release{})
		waiter.finish(t)
		awaitNone(t, at, "/arena")
	})
}

// TestBadContests are refused before anything is sent.
func TestBadContests(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		for _, contest := range []*locks.Contest{
			client.Contest("/"), client.Contest(""), client.Contest("c"), client.Contest("/a//c"), client.Contest("/c/"),
		} {
			_, err := contest.Lock(deadline(t))
			require.Error(t, err)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		}
		for _, opt := range []locks.LockOption{locks.WithName("n"), locks.WithWatchAll()} {
			_, err := client.Contest("/c", opt).TryLock(deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""))
	})
}
