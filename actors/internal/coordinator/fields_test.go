package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// TestWhatANodeTells: no field of a request is written into nodes, by carrier.OwnerOf or Spec.Style, or left out, by
// mistake.
func TestWhatANodeTells(t *testing.T) {
	base := messages.Acquire{Path: "/a", Mode: messages.Semaphore, Permits: 9}
	spec := func(want messages.Acquire) *coordinator.Spec {
		return coordinator.NewSpec(&want, "guid", "by", time.Unix(1, 0))
	}
	for _, f := range asks.Fields {
		a, b := spec(base), spec(f.With(base, f.Good))
		tells := a.Style != b.Style || carrier.OwnerOf(a) != carrier.OwnerOf(b)
		require.Equal(t, f.InNode, tells, f.Name)
	}
}
