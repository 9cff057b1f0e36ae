package restarts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
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
	client := patient.Open(t, strings.Join(connect, ","), locks.WithSessionTimeout(time.Minute))
	lease := patient.Locked(t, client.Mutex("/replaced").Lock)
	session := client.Session().ID()

	ctx := patient.Deadline(t)
	for i, newcomer := range newcomers {
		require.NoError(t, ensemble.Replace(ctx, old[i], newcomer))
		patient.CatchUp(t, client) // over whatever server is left
		require.True(t, lease.Valid())
	}
	require.Equal(t, session, client.Session().ID())
	for _, gone := range old {
		require.Zero(t, gone.PID())
	}
	others := patient.Open(t, strings.Join(connect[1:], ","))
	queue := patient.QueueOf(t, others, "/replaced")
	require.Len(t, queue, 1)
	require.Equal(t, lease.Token(), queue[0].Token)
	patient.GiveBack(t, lease)
	next := patient.Locked(t, others.Mutex("/replaced").Lock)
	require.Greater(t, next.Token(), lease.Token())
	patient.GiveBack(t, next)
	modes := make([]string, len(newcomers))
	for i, newcomer := range newcomers {
		var err error
		modes[i], err = newcomer.Address().Mode(ctx)
		require.NoError(t, err)
	}
	slices.Sort(modes)
	require.Equal(t, []string{"follower", "follower", "leader"}, modes)
}
