package restarts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestRealServersAreReplaced: all three servers of an ensemble are replaced one by one, the leader as it comes, by others at
// other addresses. A holder whose connect string names old and new ones keeps its session and its lease.
func TestRealServersAreReplaced(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	ensemble := rig.StartEnsemble(t, 3, rig.WithReconfig())
	old, connect := ensemble.Members(), []string{ensemble.Addrs()}
	var newcomers []*rig.Server
	for range old {
		newcomer, err := ensemble.Newcomer()
		require.NoError(t, err)
		newcomers, connect = append(newcomers, newcomer), append(connect, newcomer.Addr())
	}
	client := scene.Open(t, strings.Join(connect, ","), locks.WithSessionTimeout(time.Minute))
	lease := scene.Locked(t, client.Mutex("/replaced").Lock)
	session := client.Session().ID()

	ctx := scene.Deadline(t)
	for i, newcomer := range newcomers {
		require.NoError(t, ensemble.Replace(ctx, old[i], newcomer))
		scene.CatchUp(t, client) // over whatever server is left
		require.True(t, lease.Valid())
	}
	require.Equal(t, session, client.Session().ID())
	for _, gone := range old {
		require.Zero(t, gone.PID())
	}
	others := scene.Open(t, strings.Join(connect[1:], ","))
	queue := scene.QueueOf(t, others, "/replaced")
	require.Len(t, queue, 1)
	require.Equal(t, lease.Token(), queue[0].Token)
	scene.GiveBack(t, lease)
	next := scene.Locked(t, others.Mutex("/replaced").Lock)
	require.Greater(t, next.Token(), lease.Token())
	scene.GiveBack(t, next)
	modes := make([]string, len(newcomers))
	scene.Eventually(t, func() bool {
		for i, newcomer := range newcomers {
			modes[i], _ = newcomer.Address().Mode(scene.Deadline(t)) // "" during an election
		}
		slices.Sort(modes)
		return slices.Equal([]string{"follower", "follower", "leader"}, modes)
	}, "the newcomers are an ensemble: %v", modes)
}

// TestRealServersAreFound: all servers of the connect string are replaced one by one by others that it does not name. A
// holder WithReconfig finds them in /zookeeper/config, and keeps its session and its lease.
func TestRealServersAreFound(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	ensemble := rig.StartEnsemble(t, 3, rig.WithReconfig())
	log, logged := scene.NewLog()
	client := scene.Open(t, ensemble.Addrs(), logged, locks.WithReconfig(), locks.WithSessionTimeout(30*time.Second))
	lease := scene.Locked(t, client.Mutex("/found").Lock)
	session := client.Session().ID()
	ctx := scene.Deadline(t)
	for _, old := range ensemble.Members() {
		newcomer, err := ensemble.Newcomer()
		require.NoError(t, err)
		require.False(t, log.Has(newcomer.Addr()))
		require.NoError(t, ensemble.Replace(ctx, old, newcomer))
		log.Await(t, newcomer.Addr())
	}
	scene.CatchUp(t, client) // over a server that the connect string does not name
	require.True(t, lease.Valid())
	require.Equal(t, session, client.Session().ID())
	scene.GiveBack(t, lease)
}
