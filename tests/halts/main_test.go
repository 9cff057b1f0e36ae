package main

import (
	"errors"
	"os/exec"
	"testing"
	"time"
)

// TestHalt: a command is stopped and goes on, and its exit status is told.
func TestHalt(t *testing.T) {
	stops, err := halt([]string{"sh", "-c", "sleep 1; exit 3"}, 5*time.Millisecond, 5*time.Millisecond)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("%v, want exit status 3", err)
	}
	if stops == 0 {
		t.Error("it was never stopped")
	}
	if _, err := halt(nil, time.Second, time.Second); err == nil {
		t.Error("no command is no error")
	}
}
