package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Turnstile is compared with itself without look-ahead.
func TestRealLookAheadIsMeasured(t *testing.T) {
	b, lines := runOn(t, embeddedStage(t, 1), flags(t, "-workload", "look-ahead"))
	requireWhole(t, b, lines)
	require.Contains(t, lines, "ratio look-ahead n=3 turnstile/"+noLookAhead)
}
