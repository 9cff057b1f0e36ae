package txn

import (
	"os"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestMain is a committer in a process of its own, or runs the tests.
func TestMain(m *testing.M) {
	if connect := os.Getenv(committerVariable); connect != "" {
		beCommitter(connect)
		return
	}
	stories.Main(m)
}
