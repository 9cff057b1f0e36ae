package figures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestSticky: a lock whose node stayed is granted and held like any other, and no node is made or
// deleted for it.
func TestSticky(t *testing.T) {
	w := newWorld(t)
	mutex := w.open().Mutex("/orders/42", locks.WithSticky(patient.Bound))
	w.unlock(w.lock(mutex))
	sent := w.value("turnstile.session.batches")
	w.unlock(w.lock(mutex))
	require.Equal(t, sent, w.value("turnstile.session.batches"))
	require.EqualValues(t, 2, w.value("turnstile.lock.grants", exclusive))
	require.Equal(t, 2, w.count("turnstile.lock.hold.duration", exclusive, reason("released")))
	require.Zero(t, w.value("turnstile.lock.held", exclusive))
	require.NotContains(t, w.collect(), "turnstile.session.lease.remaining")
}
