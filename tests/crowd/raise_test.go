package crowd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestWithoutBounds: the same crowds bring the ensemble down where nothing bounds what a session has. It starts again
// with a larger jute.maxbuffer at every server, as the guide for production says, and with nothing less.
func TestWithoutBounds(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for name, c := range map[string]crowd{"one path": s.one, "a path each": s.each} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ensemble := rig.StartEnsemble(t, 3, s.servers...)
			c.unbounded = true
			p := c.start(t, ensemble)
			require.NoError(t, p.Kill())
			for _, m := range ensemble.Members() {
				patient.Eventually(t, func() bool { return isDown(m) }, "a server cannot read the end of the session")
			}
			setProperty(t, ensemble, "jute.maxbuffer", "67108864")
			require.NoError(t, restart(patient.Deadline(t), ensemble))
			require.NoError(t, lives(patient.Deadline(t), ensemble))
		})
	}
}

// isDown reports whether a server has met a transaction that it cannot read. The followers meet it while their leader
// may still be writing it: a leader that is killed then has half of a transaction in its log, and starts with no
// setting.
func isDown(m *rig.Server) bool { return strings.Contains(m.Log(), "Unreasonable length") }

// setProperty stops all members, and sets a system property for their next start.
func setProperty(t *testing.T, ensemble *rig.Ensemble, name, value string) {
	t.Helper()
	for _, m := range ensemble.Members() {
		require.NoError(t, m.Kill())
		m.SetSystemProperty(name, value)
	}
}

// restart starts all members together.
func restart(ctx context.Context, ensemble *rig.Ensemble) error {
	var all sync.WaitGroup
	failed := make([]error, len(ensemble.Members()))
	for i, m := range ensemble.Members() {
		all.Go(func() { failed[i] = m.Restart(ctx) })
	}
	all.Wait()
	return errors.Join(failed...)
}
