package zklock

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestRealLeaderThatDoesNotServe: with leaderServes=no the leader answers as a server without a quorum does. Locks work, and
// doctor warns.
func TestRealLeaderThatDoesNotServe(t *testing.T) {
	t.Parallel()
	ensemble := rig.StartEnsemble(t, 3, rig.WithConfig("syncLimit", "100"), rig.WithMember(0, rig.WithConfig("leaderServes", "no")))
	ctx, members := scene.Deadline(t), ensemble.Members()
	// With the least number the first leads where it alone has the newest data, among those that elect.
	require.NoError(t, members[1].Kill())
	conn := scene.Raw(t, scene.Session, members[2].Addr())
	_, err := conn.Create("/newest", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	require.NoError(t, members[2].Kill())
	for _, late := range members[1:] {
		require.NoError(t, late.Restart(ctx))
	}
	_, err = members[0].Address().Mode(ctx)
	require.ErrorIs(t, err, rig.ErrNotServing, "it leads, and does not serve")

	r := parsed[report](t, place{addr: ensemble.Addrs()}, 0, "doctor --json")
	require.Equal(t, "warn", r.Findings[0].Grade)
	require.Equal(t, members[0].Addr()+" listens, and does not serve", r.Findings[0].Found)
	require.Contains(t, r.Findings[0].Do, "leaderServes=no")
	require.True(t, r.OK)
}
