package matrix

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is the client that is stopped or killed, in a process of its own. Otherwise it runs the tests, and
// finds out then whether anything of Turnstile's is still running.
func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		beChild(text)
		return
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
