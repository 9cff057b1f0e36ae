package main

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/turnstile-locks/turnstile/tests/child"
)

// clientVariable is set in the environment of clients, so that a test binary knows that it is one.
const clientVariable = "TURNSTILE_SOAK_CLIENT"

// startProcess runs this program again.
func startProcess(args []string) (*child.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), clientVariable+"=1")
	p, err := child.Start(cmd, nil)
	if err != nil {
		return nil, fmt.Errorf("soak: a client: %w", err)
	}
	return p, nil
}
