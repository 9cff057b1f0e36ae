package scene

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Controlled are servers of a test's own, which it may stop and start again.
type Controlled struct {
	// Connect is the connect string for Open.
	Connect string
	// Find finds the leader. A server that is alone is its own.
	Find func(ctx context.Context) (Member, error)
}

// Leader is the leader of the servers.
func (c Controlled) Leader(t *testing.T) Member {
	t.Helper()
	leader, err := c.Find(Deadline(t))
	require.NoError(t, err)
	return leader
}

// Member is one server of Controlled.
type Member interface {
	// Kill stops the server as if it were killed.
	Kill() error
	// Restart starts it again, with its data.
	Restart(ctx context.Context) error
}

// embeddedMember is a replica in this process.
type embeddedMember struct{ *embedded.Replica }

func (m embeddedMember) Kill() error                   { m.Stop(); return nil }
func (m embeddedMember) Restart(context.Context) error { return m.Start() }

// EachControlled runs a test on servers of its own: n of them, embedded and real. It runs beside others.
func EachControlled(t *testing.T, n int, run func(t *testing.T, servers Controlled)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		server := embedded.Run(t, embedded.WithReplicas(n), embedded.WithReapInterval(20*time.Millisecond), embedded.WithTick(20*time.Millisecond))
		run(t, Controlled{server.Connect(), func(context.Context) (Member, error) {
			return embeddedMember{server.Leader()}, nil
		}})
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		often := rig.WithSystemProperty("znode.container.checkIntervalMs", "20")
		if n == 1 {
			server := rig.StartStandalone(t, often)
			run(t, Controlled{server.Addr(), func(context.Context) (Member, error) { return server, nil }})
			return
		}
		ensemble := rig.StartEnsemble(t, n, often)
		run(t, Controlled{ensemble.Addrs(), func(ctx context.Context) (Member, error) { return ensemble.Leader(ctx) }})
	})
}
