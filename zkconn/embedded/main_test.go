package embedded_test

import (
	"testing"

	"go.uber.org/goleak"
)

// A server that is closed leaves nothing running, after all that the tests have done to it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
