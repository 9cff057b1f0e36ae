// Package figures_test asks what programs export as metrics, spans and logs, on the embedded server.
package figures_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
