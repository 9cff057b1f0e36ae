package elections

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestProclaim: all who ask for the leader, and all who observe, see what it says now, in its own session too. The term
// stays, and nobody who waits is disturbed. A request for the lead that was written before is kept.
func TestProclaim(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		own, err := one.Election("/lead").Observe(scene.Deadline(t))
		require.NoError(t, err)
		other, err := two.Election("/lead").Observe(scene.Deadline(t))
		require.NoError(t, err)
		first, err := one.Election("/lead").Campaign(scene.Deadline(t), "starting")
		require.NoError(t, err)
		nextLeader(t, other, "starting")
		nextLeader(t, own, "starting")
		second := make(chan *locks.Leadership, 1)
		go func() {
			term, err := two.Election("/lead").Campaign(scene.Deadline(t), "second")
			assert.NoError(t, err)
			second <- term
		}()
		scene.AwaitCount(t, zk, "/lead", 2)
		for _, value := range []string{"ready", "", "draining"} {
			require.NoError(t, first.Proclaim(scene.Deadline(t), value))
			require.Equal(t, value, first.Value())
			for _, told := range []<-chan locks.Leader{own, other} {
				require.Equal(t, first.Token(), nextLeader(t, told, value).Token)
			}
			for _, client := range []*locks.Client{one, two} {
				leader, err := client.Election("/lead").Leader(scene.Deadline(t))
				require.NoError(t, err)
				require.Equal(t, value, leader.Value)
			}
		}
		_, err = two.Revoke(scene.Deadline(t), "/lead")
		require.NoError(t, err)
		require.NoError(t, first.Proclaim(scene.Deadline(t), "asked"))
		leader := nextLeader(t, other, "asked")
		require.True(t, leader.Contender.Asked)
		scene.AwaitAsked(t, first.Lease)
		require.ErrorIs(t, first.Proclaim(scene.Deadline(t), strings.Repeat("x", 1025)), locks.ErrBadAcquire)
		require.NoError(t, first.Resign(scene.Deadline(t)))
		next := <-second
		require.NotNil(t, next)
		require.Equal(t, next.Token(), nextLeader(t, other, "second").Token)
		require.ErrorIs(t, first.Proclaim(scene.Deadline(t), "still here"), locks.ErrReleased)
		leader, err = one.Election("/lead").Leader(scene.Deadline(t))
		require.NoError(t, err)
		require.Equal(t, "second", leader.Value)
		require.Equal(t, "asked", first.Value(), "nothing was written")
	})
}

// TestProclaimOfALostLead: a leader whose node is gone writes nothing, and hears why. The term of Run that follows begins with
// Run's value.
func TestProclaimOfALostLead(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client, other := zk.Open(t), zk.Open(t)
	told, err := other.Election("/lead").Observe(scene.Deadline(t))
	require.NoError(t, err)
	l := lead(scene.Deadline(t), client.Election("/lead"), "one", new(atomic.Int32))
	first := l.term(t)
	require.NoError(t, first.Proclaim(scene.Deadline(t), "changed"))
	leader := nextLeader(t, told, "changed")
	require.NoError(t, other.Break(scene.Deadline(t), leader.Contender))
	second := l.term(t)
	require.Greater(t, second.Token(), first.Token())
	require.ErrorIs(t, first.Proclaim(scene.Deadline(t), "late"), locks.ErrLost)
	require.Equal(t, second.Token(), nextLeader(t, told, "one").Token)
	require.Equal(t, "one", second.Value())
	require.ErrorIs(t, l.end(t), context.Canceled)
}

// TestProclaimKeepsOthersRequest: another library's request for the lead overwrites the node. The leader's session writes it
// again, and Proclaim waits for that.
func TestProclaimKeepsOthersRequest(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client, raw := zk.Open(t), zk.Raw(t)
	term, err := client.Election("/lead").Campaign(scene.Deadline(t), "one")
	require.NoError(t, err)
	_, err = raw.Set(zk.Root()+"/lead/"+term.Node(), []byte("unlock"), -1)
	require.NoError(t, err)
	require.NoError(t, term.Proclaim(scene.Deadline(t), "two"))
	scene.AwaitAsked(t, term.Lease)
	leader, err := client.Election("/lead").Leader(scene.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, "two", leader.Value)
	require.True(t, leader.Contender.Asked)
}

// TestProclaimLosesMessages: lost replies and requests are resolved. The value is written once the call returns, and no
// write comes later.
func TestProclaimLosesMessages(t *testing.T) {
	for name, c := range map[string]struct {
		action rig.Action
		opts   []locks.ElectionOption
	}{
		"reply": {action: rig.DropReply}, "request": {action: rig.CutBefore},
		"reply, and others may write under the lease": {rig.DropReply, []locks.ElectionOption{locks.WithReentry()}},
	} {
		t.Run(name, func(t *testing.T) {
			zk := scene.OnEmbedded(t)
			proxy := zk.Proxy(t)
			client, other := scene.Open(t, proxy.Addr()+zk.Root(), locks.WithSessionTimeout(time.Minute)), zk.Open(t)
			term, err := client.Election("/lead", c.opts...).Campaign(scene.Deadline(t), "one")
			require.NoError(t, err)
			node := zk.Root() + "/lead/" + term.Node()
			fault := proxy.Expect(rig.Rule{Op: rig.OpSetData, Action: c.action,
				Path: func(path string) bool { return path == node }})
			for _, value := range []string{"two", "three"} {
				require.NoError(t, term.Proclaim(scene.Deadline(t), value))
				<-fault.Fired() // the first time
				leader, err := other.Election("/lead").Leader(scene.Deadline(t))
				require.NoError(t, err)
				require.Equal(t, value, leader.Value)
			}
		})
	}
}

// TestProclaimAfterALongTime: watches that nobody needs are dropped by then, and waiters have looked again many times. Who
// observes hears of it all the same, and who waits hears each thing once.
func TestProclaimAfterALongTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		one, two, three := scene.Client(t, server), scene.Client(t, server), scene.Client(t, server)
		told, err := three.Election("/lead").Observe(t.Context())
		require.NoError(t, err)
		term, err := one.Election("/lead").Campaign(t.Context(), "starting")
		require.NoError(t, err)
		changes := &scene.Changes{}
		ctx, leave := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, err := two.Election("/lead", locks.WithOnChange(changes.Hear)).Campaign(ctx, "next")
			assert.ErrorIs(t, err, context.Canceled)
		}()
		time.Sleep(time.Hour)
		nextLeader(t, told, "starting")
		require.NoError(t, term.Proclaim(t.Context(), "ready"))
		require.Equal(t, term.Token(), nextLeader(t, told, "ready").Token)
		time.Sleep(time.Hour)
		leave()
		<-over
		require.Len(t, changes.All, 2)
		require.Equal(t, "starting", changes.All[0].Behind.Label)
		require.Equal(t, "ready", changes.All[1].Behind.Label)
		require.NoError(t, term.Resign(t.Context()))
	})
}
