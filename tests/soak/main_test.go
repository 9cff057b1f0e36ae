package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain plays the client when the controller under test starts this binary as one.
func TestMain(m *testing.M) {
	if os.Getenv(clientVariable) != "" {
		main()
		return
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
