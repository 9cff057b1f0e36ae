package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// RequireVariable is the environment variable that, set to 1, turns a missing
// server from a skip into a failure.
const RequireVariable = "TURNSTILE_REQUIRE_SERVERS"

// ErrUnavailable is wrapped by the errors of [Available].
var ErrUnavailable = errors.New("rig: real ZooKeeper servers are not available")

// Available returns nil when Java and the jars of [Version] are installed, and otherwise an error that says what to
// install.
func Available() error {
	_, err := ClassPath()
	if _, java := exec.LookPath("java"); java != nil {
		err = errors.Join(fmt.Errorf("%w: no java in PATH; on Debian: apt-get install --no-install-recommends default-jre-headless",
			ErrUnavailable), err)
	}
	return err
}

// Require skips the test when real servers cannot be started, or fails it when
// TURNSTILE_REQUIRE_SERVERS=1.
func Require(t testing.TB) {
	t.Helper()
	SkipUnless(t, Available())
}

// SkipUnless skips the test for what is missing, or fails it when
// TURNSTILE_REQUIRE_SERVERS=1.
func SkipUnless(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv(RequireVariable) == "1" {
		t.Fatalf("%s=1 but: %v", RequireVariable, err)
	}
	t.Skip(err)
}
