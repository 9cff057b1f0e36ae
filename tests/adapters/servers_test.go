package adapters

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// eachServer runs a test on the embedded server, and on a real one.
func eachServer(t *testing.T, run func(t *testing.T, servers string)) {
	t.Run("embedded", func(t *testing.T) { run(t, embedded.Run(t).Connect()) })
	t.Run("real", func(t *testing.T) {
		rig.Require(t)
		run(t, rig.StartStandalone(t).Addr())
	})
}
