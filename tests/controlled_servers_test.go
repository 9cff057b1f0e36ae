package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// controlled are servers of a test's own, which it may stop and start again.
type controlled struct {
	connect string
	find    func(ctx context.Context) (member, error) // the leader; a server alone is its own
}

func (c controlled) leader(t *testing.T) member {
	t.Helper()
	leader, err := c.find(deadline(t))
	require.NoError(t, err)
	return leader
}

// member is one server that can be stopped, as if it were killed, and started again.
type member interface {
	Kill() error
	Restart(ctx context.Context) error
}

// embeddedMember is a replica in this process.
type embeddedMember struct{ *embedded.Replica }

func (m embeddedMember) Kill() error                   { m.Stop(); return nil }
func (m embeddedMember) Restart(context.Context) error { return m.Start() }

// eachControlled runs a test on servers of its own: n of them, embedded and real. It runs beside others.
func eachControlled(t *testing.T, n int, run func(t *testing.T, servers controlled)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		server := embedded.Run(t, embedded.WithReplicas(n), embedded.WithReapInterval(20*time.Millisecond), embedded.WithTick(20*time.Millisecond))
		run(t, controlled{server.Connect(), func(context.Context) (member, error) {
			return embeddedMember{server.Leader()}, nil
		}})
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		often := rig.WithSystemProperty("znode.container.checkIntervalMs", "20")
		if n == 1 {
			server := rig.StartStandalone(t, often)
			run(t, controlled{server.Addr(), func(context.Context) (member, error) { return server, nil }})
			return
		}
		ensemble := rig.StartEnsemble(t, n, often)
		run(t, controlled{ensemble.Addrs(), func(ctx context.Context) (member, error) { return ensemble.Leader(ctx) }})
	})
}
