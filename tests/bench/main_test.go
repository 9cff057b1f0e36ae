package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/tests/interop"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestMain plays the child process when a benchmark under test starts this binary as one, and finds what the
// benchmarks have left running.
func TestMain(m *testing.M) {
	rig.Ordered(childVariable, beChild)
	code := m.Run()
	if err := interop.RemovePrograms(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
