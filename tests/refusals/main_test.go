package refusals

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

func TestMain(m *testing.M) { scene.Main(m) }
