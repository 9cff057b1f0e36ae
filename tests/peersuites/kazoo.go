package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// runKazoo runs kazoo's own tests, which its package has, with pytest. Their harness starts an ensemble of three with
// the first java in PATH, and stops and starts its members.
func runKazoo(ctx context.Context, r *round, only []string) (outcomes, error) {
	python, err := pinned.Peers.Python()
	if err != nil {
		return nil, err
	}
	jars, err := rig.ClassPath()
	if err != nil {
		return nil, err
	}
	env := []string{"ZOOKEEPER_VERSION=" + rig.Version(), "ZOOKEEPER_CLASSPATH=" + jars}
	if r.kind == onEmbedded {
		bin, err := r.serverCommand("java", r.standInScript(`"$@"`))
		if err != nil {
			return nil, err
		}
		env = append(env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	packages := filepath.Join(filepath.Dir(filepath.Dir(python)), "lib", "python*", "site-packages")
	roots, err := filepath.Glob(packages)
	if err != nil || len(roots) != 1 {
		return nil, fmt.Errorf("%s: found %d, want one (%w)", packages, len(roots), err)
	}
	report := filepath.Join(r.folder, "kazoo.xml")
	command := []string{python, "-W", "ignore", "-m", "pytest", "-p", "no:cacheprovider", "--color=no", "--timeout=180",
		"--rootdir=" + roots[0], "--junitxml=" + report, "--pyargs"}
	if len(only) == 0 {
		command = append(command, "kazoo.tests")
	}
	for _, test := range only {
		command = append(command, pytestName(test))
	}
	if err := r.run(ctx, r.folder, "kazoo.log", env, command...); err != nil {
		return nil, err
	}
	return fromJUnit(report)
}

// pytestName is the name by which pytest runs a test, from that in its report: modules, maybe a class, and a function.
func pytestName(test string) string {
	parts := strings.Split(test, ".")
	last := len(parts) - 1
	if class := parts[last-1]; unicode.IsUpper(rune(class[0])) {
		return strings.Join(parts[:last-1], ".") + "::" + class + "::" + parts[last]
	}
	return strings.Join(parts[:last], ".") + "::" + parts[last]
}
