package metering_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestValues: dashboards and alerts select by these words, so that they do not change with the code.
func TestValues(t *testing.T) {
	for key, want := range map[attribute.Key][]string{
		"turnstile.lock.mode":       {"contest", "exclusive", "read", "semaphore", "write"},
		"turnstile.lock.handoff":    {"local", "remote"},
		"turnstile.lock.revocation": {"asked", "forced"},
		"turnstile.cause": {"disconnected", "expired", "late_grant", "node_gone", "not_listed", "other", "silent",
			"unknown_outcome"},
		"turnstile.session.state": {"connected", "connecting", "disconnected"},
	} {
		require.Equal(t, want, metering.Values(key), key)
	}
	reasons := metering.Values(metering.KeyReason)
	require.Equal(t, reasons, metering.Values(metering.KeyErrorType))
	require.Subset(t, reasons, []string{"_OTHER", "released", "owner_gone", "stopped", "cancelled", "timeout", "not_acquired",
		"revoked", "session_expired", "session_closed", "lease_over", "node_deleted", "deadlock"})
	require.Contains(t, reasons, metering.Reason(messages.ReasonSequenceExhausted))
	require.Empty(t, metering.Values("app.area"))
	for _, i := range metering.Instruments() {
		for _, key := range i.Attributes {
			require.NotEmpty(t, metering.Values(key), "%s of %s", key, i.Name)
		}
	}
}
