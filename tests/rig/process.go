package rig

import (
	"fmt"
	"io"
	"os/exec"

	"github.com/turnstile-locks/turnstile/tests/child"
)

// startProcess runs Java until it ends or is killed.
func startProcess(output io.Writer, dir string, args []string) (*child.Process, error) {
	cmd := exec.Command("java", args...)
	cmd.Dir = dir
	cmd.Stdout = output
	cmd.Stderr = output
	p, err := child.Start(cmd, nil)
	if err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	return p, nil
}
