package matrix

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestMain(m *testing.M) { stories.Main(m) }
