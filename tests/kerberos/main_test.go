package kerberos

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds out whether anything is still running after the tests: tickets are fetched without goroutines of
// their own.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
