package tests

import (
	"fmt"
	"os"
	"testing"
	"time"

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
	if code == 0 {
		if err := leaked(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked waits until no goroutine is left, and gives an error where one stays. goleak itself gives up after half a
// second.
func leaked(opts ...goleak.Option) error {
	for end := time.Now().Add(bound); ; {
		if err := goleak.Find(opts...); err == nil || time.Now().After(end) {
			return err
		}
	}
}
