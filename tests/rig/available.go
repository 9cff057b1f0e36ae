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

// HermeticVariable is the environment variable that, set to 1, says that tests start no program of
// others, also where there is one. [HermeticSkip] deselects those that need it.
const HermeticVariable = "TURNSTILE_HERMETIC"

// HermeticSkip is the flag of go test that deselects the tests that need a program of others: tests
// whose names begin with TestReal, and subtests, of any level, whose names begin with the name of a
// place: real, standalone or ensemble.
const HermeticSkip = "-skip=^TestReal|/^(real|standalone|ensemble)|//^(real|standalone|ensemble)|///^(real|standalone|ensemble)"

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
// TURNSTILE_REQUIRE_SERVERS=1. With TURNSTILE_HERMETIC=1 it fails a test that was not deselected.
func SkipUnless(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(HermeticVariable) == "1" {
		t.Fatalf("%s=1 but the test needs a program of others: its name must be one that %s matches", HermeticVariable, HermeticSkip)
	}
	if err == nil {
		return
	}
	if os.Getenv(RequireVariable) == "1" {
		t.Fatalf("%s=1 but: %v", RequireVariable, err)
	}
	t.Skip(err)
}
