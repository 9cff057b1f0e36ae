package interop

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// ErrUnavailable is wrapped by what [Available] returns.
var ErrUnavailable = errors.New("interop: the other clients are not available")

const (
	// Debian's own interpreter, which is the one that has Debian's kazoo; the
	// first python3 in PATH need not be.
	python = "/usr/bin/python3"
	kazoo  = "/usr/lib/python3/dist-packages/kazoo/recipe/lock.py"
	howTo  = "on Debian: apt-get install --no-install-recommends libcurator-recipes-java " +
		"libcurator-framework-java libslf4j-java python3-kazoo default-jdk-headless"
)

// curatorJars is the class path. The manifests name everything else that is
// needed; slf4j-simple logs to standard error without any configuration file.
var curatorJars = []string{"curator-recipes.jar", "curator-framework.jar", "slf4j-simple.jar"}

// Available returns nil when Curator with its compiler and kazoo are installed,
// and otherwise an error that says what to install.
func Available() error {
	var missing []string
	for _, command := range []string{"java", "javac"} {
		if _, err := exec.LookPath(command); err != nil {
			missing = append(missing, command+" (not found in PATH)")
		}
	}
	missing = append(missing, missingJars(curatorJars)...)
	for _, path := range []string{python, kazoo} {
		if _, err := os.Stat(path); err != nil {
			missing = append(missing, path)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: missing %s; %s", ErrUnavailable, strings.Join(missing, ", "), howTo)
}

// Require skips the test when the other clients cannot be run, or fails it when
// TURNSTILE_REQUIRE_SERVERS=1.
func Require(t testing.TB) {
	t.Helper()
	rig.SkipUnless(t, Available())
}

// missingJars gives the paths of those of Debian's jars that are not there.
func missingJars(jars []string) (missing []string) {
	for _, path := range filepath.SplitList(classPath(jars)) {
		if _, err := os.Stat(path); err != nil {
			missing = append(missing, path)
		}
	}
	return missing
}

// classPath is for those of Debian's jars.
func classPath(jars []string) string {
	paths := make([]string, len(jars))
	for i, jar := range jars {
		paths[i] = filepath.Join("/usr/share/java", jar)
	}
	return strings.Join(paths, string(os.PathListSeparator))
}
