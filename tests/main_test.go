package tests

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain stops the servers that the tests share, and then finds out whether anything of Turnstile's
// is still running.
func TestMain(m *testing.M) {
	if connect := os.Getenv(committerVariable); connect != "" {
		beCommitter(connect)
		return
	}
	code := m.Run()
	stopServers()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
