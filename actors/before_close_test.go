package actors

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBeforeCloseWaitsForWhatIsAdded: what begins while the last things are being done is one of
// them.
func TestBeforeCloseWaitsForWhatIsAdded(t *testing.T) {
	var last closingHooks
	var done []string
	last.add(func() {
		last.run(func() { t.Error("run twice") })
		last.add(func() { done = append(done, "second") })
		done = append(done, "first")
	})
	require.True(t, last.some())
	over := make(chan struct{})
	last.run(func() { close(over) })
	<-over
	require.Equal(t, []string{"first", "second"}, done)
	require.False(t, last.some())
}
