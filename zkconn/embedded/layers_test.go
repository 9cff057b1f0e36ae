package embedded

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/layers"
)

// TestLayers: each file uses only those before it in the list in the package doc.
func TestLayers(t *testing.T) { layers.Check(t) }
