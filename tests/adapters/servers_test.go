package adapters

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
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

// awaitQueue waits until so many hold a lock or wait for it.
func awaitQueue(t *testing.T, servers, path string, n int) {
	t.Helper()
	client := patient.Open(t, servers)
	for end := time.Now().Add(patient.Bound); ; time.Sleep(20 * time.Millisecond) {
		queue, err := client.Queue(patient.Deadline(t), path)
		require.NoError(t, err)
		if len(queue) == n {
			return
		}
		require.True(t, time.Now().Before(end), "%d in the queue at %s", len(queue), path)
	}
}
