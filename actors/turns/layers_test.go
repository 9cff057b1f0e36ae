package turns

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/layers"
)

// TestLayers: each file uses only those before it in the list that the package doc ends with.
func TestLayers(t *testing.T) { layers.Check(t) }
