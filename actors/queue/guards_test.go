package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuardNames: a guard is told by its name, and is no contender, whatever its contest is called.
func TestGuardNames(t *testing.T) {
	const guid = "0d6f3f0e-3c5e-4a35-9c1f-0123456789ab"
	for _, one := range []string{"c", "lock-0000000001", "x-lock-0000000001", "a_lock_0000000001", "c-guard"} {
		guard := GuardName(one, guid)
		require.True(t, IsGuard(guard), guard)
		_, contends := Parse(guard)
		require.False(t, contends, guard)
		by, _ := GuardedBy(guard)
		require.Equal(t, one, by)
	}
	for _, child := range []string{"", "c", "-guard", "c-guard", "bank-guard", guid + "-guard", "c-" + guid} {
		require.False(t, IsGuard(child), child)
	}
}
