package refusals

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestRealServerCutsWhatIsTooLarge: a server hangs up on a request that is larger than its jute.maxbuffer. That request
// names its trouble, and costs the others of the session a reconnect now and then.
func TestRealServerCutsWhatIsTooLarge(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithSystemProperty("jute.maxbuffer", "1000"))
	client := scene.Open(t, server.Addr())
	held := scene.Locked(t, client.Mutex("/held").Lock)
	ctx, stop := context.WithTimeout(scene.Deadline(t), 10*time.Second)
	defer stop()
	answer := scene.Elsewhere(ctx, client.Mutex("/large", locks.WithLabel(strings.Repeat("x", 1000))).Lock)
	for ctx.Err() == nil {
		scene.GiveBack(t, scene.Locked(t, client.Mutex("/other").Lock))
	}
	err := scene.Receive(t, answer).Err
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Regexp(t, `the server hangs up on create /large/_c_\S+, 1?\d times`, err.Error())
	require.True(t, held.Valid())
	scene.GiveBack(t, held)
}

// TestRealQuotaOnServer: a contender beyond a quota is refused with an error that may pass, and others go on.
func TestRealQuotaOnServer(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithConfig("enforceQuota", "true"))
	client := scene.Open(t, server.Addr())
	scene.Cycle(t, client.Mutex("/x"))
	conn := (&scene.Servers{Members: []rig.Address{server.Address()}}).Raw(t)
	for _, n := range []struct{ path, data string }{
		{"/x", ""}, {"/zookeeper/quota/x", ""}, {"/zookeeper/quota/x/zookeeper_stats", "count=1,bytes=0"},
	} {
		if _, err := conn.Create(n.path, []byte(n.data), 0, zk.WorldACL(zk.PermAll)); err != nil {
			require.ErrorIs(t, err, zk.ErrNodeExists, n.path)
		}
	}
	_, err := conn.Create("/zookeeper/quota/x/zookeeper_limits",
		[]byte("count=-1,bytes=-1;byteHardLimit=-1;countHardLimit=2"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)

	lease := scene.Locked(t, client.Mutex("/x").Lock)
	_, err = client.Mutex("/x").Lock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrQuota)
	require.True(t, locks.MayPass(err))
	require.NoError(t, client.Ready())
	require.True(t, lease.Valid())
	scene.Cycle(t, client.Mutex("/y"))
	scene.GiveBack(t, lease)
	scene.Cycle(t, client.Mutex("/x"))
}

// TestRealThrottledServer: a server takes one request at a time, and throttles requests that have
// waited for more than a millisecond. All are carried out in the end.
func TestRealThrottledServer(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithConfig("request_throttle_max_requests", "1"),
		rig.WithConfig("request_throttle_stall_time", "5"), rig.WithConfig("throttled_op_wait_time", "1"))
	const clients, each = 4, 40
	var all sync.WaitGroup
	for c := range clients {
		client := scene.Open(t, server.Addr())
		for i := range each {
			all.Go(func() {
				lease, err := client.Mutex(fmt.Sprintf("/throttled/%d", (c+i)%7)).Lock(scene.Deadline(t))
				if err == nil {
					err = lease.Unlock(scene.Deadline(t))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	answer, err := server.Address().FourLetter(t.Context(), "mntr")
	require.NoError(t, err)
	_, throttled, found := strings.Cut(answer, "zk_throttled_ops\t")
	require.True(t, found, "%s", answer)
	throttled, _, _ = strings.Cut(throttled, "\n")
	t.Logf("throttled: %s", throttled)
	require.NotEqual(t, "0", throttled)
}

// TestRealLocalSessions: servers that keep sessions local and do not make them global allow no lock. Lock says so, at the
// leader and at a follower.
func TestRealLocalSessions(t *testing.T) {
	ensemble := rig.StartEnsemble(t, 3, rig.WithConfig("localSessionsEnabled", "true"),
		rig.WithConfig("localSessionsUpgradingEnabled", "false"))
	leader, err := ensemble.Leader(scene.Deadline(t))
	require.NoError(t, err)
	followers, err := ensemble.Waiting(scene.Deadline(t))
	require.NoError(t, err)
	for name, server := range map[string]*rig.Server{"leader": leader, "follower": followers[0]} {
		t.Run(name, func(t *testing.T) {
			client := scene.Open(t, server.Addr())
			ctx, stop := context.WithTimeout(scene.Deadline(t), 20*time.Second)
			defer stop()
			answer := scene.Elsewhere(ctx, client.Mutex("/local").Lock)
			scene.Eventually(t, func() bool { return client.Ready() != nil }, "the client says that it is not ready")
			err := scene.Receive(t, answer).Err
			require.ErrorIs(t, err, locks.ErrLocalSession)
			require.False(t, locks.MayPass(err))
		})
	}
}
