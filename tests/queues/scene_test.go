package queues

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

func TestScenes(t *testing.T) { scene.Play(t, "testdata") }
