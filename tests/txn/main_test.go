package txn

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestMain is a committer in a process of its own, or runs the tests.
func TestMain(m *testing.M) {
	child.Ordered(committerVariable, beCommitter)
	stories.Main(m)
}
