package interop

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// ErrUnavailable is wrapped by the errors of [Available].
var ErrUnavailable = errors.New("interop: the other clients are not available")

// Available returns nil when Curator with its compiler and kazoo can be run, and
// otherwise an error that says what is missing.
func Available() error {
	var missing []error
	for _, command := range []string{"java", "javac"} {
		if _, err := exec.LookPath(command); err != nil {
			missing = append(missing, fmt.Errorf("no %s in PATH; on Debian: apt-get install --no-install-recommends default-jdk-headless", command))
		}
	}
	_, curator := curatorClassPath()
	_, kazoo := pinned.Python()
	if err := errors.Join(append(missing, curator, kazoo)...); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// curatorClassPath is for Curator, of the version that package pinned has. It takes ZooKeeper's client along.
func curatorClassPath() (string, error) {
	profiles, err := pinned.Profiles()
	if err != nil {
		return "", err
	}
	for _, profile := range profiles {
		if strings.HasPrefix(profile, "curator-") {
			return pinned.ClassPath(profile)
		}
	}
	return "", errors.New("interop: package pinned has no Curator")
}

// Require skips the test when the other clients cannot be run, or fails it when
// TURNSTILE_REQUIRE_SERVERS=1.
func Require(t testing.TB) {
	t.Helper()
	rig.SkipUnless(t, Available())
}
