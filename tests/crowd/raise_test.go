package crowd

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestWithoutBounds: the same crowds bring the ensemble down where nothing bounds what a session has. It starts again
// with a larger jute.maxbuffer at every server, as the guide for production says, and with nothing less.
func TestWithoutBounds(t *testing.T) {
	t.Parallel()
	s := newMeeting(t)
	for name, c := range map[string]crowd{"one path": s.one, "a path each": s.each} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ensemble := rig.StartEnsemble(t, 3, s.servers...)
			c.Unbounded = true
			p := c.start(t, ensemble.Addrs(), ensemble.Members()...)
			require.NoError(t, p.Kill())
			scene.Eventually(t, func() bool { return isDown(ensemble) }, "a majority cannot read the end of the session")
			for _, m := range ensemble.Members() {
				require.NoError(t, m.Kill())
				m.SetSystemProperty("jute.maxbuffer", "67108864")
			}
			var all sync.WaitGroup // they serve only together
			for _, m := range ensemble.Members() {
				all.Go(func() { assert.NoError(t, m.Restart(scene.Deadline(t))) })
			}
			all.Wait()
			lives(t, ensemble)
		})
	}
}

// isDown reports whether a majority of the members cannot read their logs. Each has led in its turn, has ended the
// session, and has met the transaction again when it read its log. No member writes from then on: the others cannot
// elect a leader. A leader that is killed sooner may be writing that transaction, and never starts again.
func isDown(ensemble *rig.Ensemble) bool {
	down := 0
	for _, m := range ensemble.Members() {
		log := m.Log()
		if strings.Contains(log, "Unable to load database on disk") && strings.Contains(log, "Unreasonable length") {
			down++
		}
	}
	return down > len(ensemble.Members())/2
}
