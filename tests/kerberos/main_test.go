package kerberos

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain stops what the tests share, and then finds out whether anything is still running: tickets are fetched
// without goroutines of their own.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range []func() error{demandingServer.Stop, stopServersKDC, func() error { return goleak.Find() }} {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
