package restarts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLeaderRightAfterARestart: a leader has crashed, and its process is started again. Until the old session is over,
// Leader gives the new process its own value, and the session of the old one. Then nobody leads.
func TestLeaderRightAfterARestart(t *testing.T) {
	ctx, server := scene.Deadline(t), embedded.Run(t)
	proxy := rig.NewProxy(t, server.Addr())
	crashed := scene.Open(t, proxy.Addr())
	_, err := crashed.Election("/lead").Campaign(ctx, "one:80")
	require.NoError(t, err)
	session := crashed.Session().ID()
	proxy.Refuse(true) // it is gone, for the servers
	proxy.Cut()

	election := scene.Open(t, server.Addr()).Election("/lead")
	leader, err := election.Leader(ctx)
	require.NoError(t, err)
	require.Equal(t, "one:80", leader.Value)
	require.Equal(t, session, leader.Contender.Session)
	require.False(t, election.IsLeader())
	require.NoError(t, server.Expire(session))
	_, err = election.Leader(ctx)
	require.ErrorIs(t, err, locks.ErrNoLeader)
}
