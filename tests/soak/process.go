package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/interop"
)

// clientVariable is set in the environment of clients, so that a test binary knows that it is one.
const clientVariable = "TURNSTILE_SOAK_CLIENT"

// startProcess runs a client of that peer.
func startProcess(peer string, args []string) (*child.Process, error) {
	command, err := program(peer)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	command = append(command, args...)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), clientVariable+"=1")
	p, err := child.Start(cmd, nil)
	if err != nil {
		return nil, fmt.Errorf("soak: a client: %w", err)
	}
	return p, nil
}

// program is this one, or for Curator a JVM.
func program(peer string) ([]string, error) {
	if peer == peerCurator {
		command, err := interop.CuratorCommand("SoakClient")
		if err != nil {
			return nil, err
		}
		// It says every lost connection several times.
		return slices.Insert(command, 1, "-Dorg.slf4j.simpleLogger.log.org.apache=off"), nil
	}
	mine, err := os.Executable()
	return []string{mine}, err
}
