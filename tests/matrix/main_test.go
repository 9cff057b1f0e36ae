package matrix

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/tests/child"
)

// TestMain is the client that is stopped or killed, in a process of its own. Otherwise it runs the tests, and
// finds out then whether anything of Turnstile's is still running.
func TestMain(m *testing.M) {
	child.Ordered(childVariable, beChild)
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
