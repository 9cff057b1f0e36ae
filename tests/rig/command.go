package rig

import (
	"os"
	"os/exec"
	"testing"
)

// commandVariable has a test binary be the command that it tests.
const commandVariable = "TURNSTILE_TEST_IS_COMMAND"

// CommandMain runs the tests of a command, or is the command where Self has started the process. So a
// command's tests build it once, as themselves, and with -race where they have it.
func CommandMain(m *testing.M, main func()) {
	if os.Getenv(commandVariable) == "" {
		os.Exit(m.Run())
	}
	_ = os.Unsetenv(commandVariable) // its own children are not the command
	main()
	os.Exit(0)
}

// Self is the command that this test binary tests, with arguments. Its TestMain is CommandMain.
func Self(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), commandVariable+"=1")
	return cmd
}
