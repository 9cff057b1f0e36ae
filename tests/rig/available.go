package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// RequireVariable is the environment variable that, set to 1, turns a missing
// server from a skip into a failure.
const RequireVariable = "TURNSTILE_REQUIRE_SERVERS"

// ErrUnavailable is wrapped by what [Available] returns.
var ErrUnavailable = errors.New("rig: real ZooKeeper servers are not available")

const (
	jarFolder = "/usr/share/java"
	howTo     = "on Debian: apt-get install --no-install-recommends zookeeper default-jre-headless"
)

// serverJars is the class path. The manifest of zookeeper.jar names everything
// else that it needs; slf4j-simple logs to standard error without any
// configuration file.
var serverJars = []string{"zookeeper.jar", "slf4j-simple.jar"}

// Available returns nil when Java and the ZooKeeper jars are installed, and
// otherwise an error that says what to install.
func Available() error {
	var missing []string
	if _, err := exec.LookPath("java"); err != nil {
		missing = append(missing, "java (not found in PATH)")
	}
	missing = append(missing, MissingJars(serverJars)...)
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: missing %s; %s", ErrUnavailable, strings.Join(missing, ", "), howTo)
}

// MissingJars gives the paths of those of Debian's jars that are not there.
func MissingJars(jars []string) (missing []string) {
	for _, jar := range jars {
		path := filepath.Join(jarFolder, jar)
		if _, err := os.Stat(path); err != nil {
			missing = append(missing, path)
		}
	}
	return missing
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

// ClassPath is for those of Debian's jars.
func ClassPath(jars []string) string {
	paths := make([]string, len(jars))
	for i, jar := range jars {
		paths[i] = filepath.Join(jarFolder, jar)
	}
	return strings.Join(paths, string(os.PathListSeparator))
}
