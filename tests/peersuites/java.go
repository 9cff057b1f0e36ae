package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// javaSources take the place of classes that start servers inside the process of a suite.
//
//go:embed java
var javaSources embed.FS

// junitSuite names the tests that JUnit's console is to run.
type junitSuite struct {
	profile string   // the class path, of package pinned
	sources []string // the folders of javaSources that come before it where servers are embedded ones
	after   string   // a class of these that writes more classes; empty: none
}

// junit runs the chosen tests. Name is for the files that it writes.
func (r *round) junit(ctx context.Context, s junitSuite, name string, chosen []string) (outcomes, error) {
	jars, err := pinned.Peers.ClassPath(s.profile)
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(r.folder, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	command := []string{"java", "-Djava.io.tmpdir=" + temp, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"}
	if r.kind == onEmbedded {
		classes, err := r.compileJava(ctx, s, jars)
		if err != nil {
			return nil, err
		}
		jars = classes + string(os.PathListSeparator) + jars
		command = append(command, "-Dstandin.program="+r.self)
	}
	reports := filepath.Join(r.folder, "reports", name)
	if err := os.RemoveAll(reports); err != nil {
		return nil, err
	}
	command = append(command, "-cp", jars, "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--disable-ansi-colors",
		"--details=tree", "--config=junit.jupiter.execution.timeout.testable.method.default=5m", "--reports-dir="+reports)
	if err := r.run(ctx, r.folder, name+".log", nil, append(command, chosen...)...); err != nil {
		return nil, err
	}
	return fromJUnit(filepath.Join(reports, "TEST-junit-jupiter.xml"))
}

// compileJava compiles what takes the place of classes, once in a round.
func (r *round) compileJava(ctx context.Context, s junitSuite, jars string) (string, error) {
	classes := filepath.Join(r.folder, "classes")
	if _, err := os.Stat(classes); err == nil {
		return classes, nil
	}
	folder := filepath.Join(r.folder, "sources")
	if err := os.CopyFS(folder, javaSources); err != nil {
		return "", err
	}
	compile := []string{"javac", "-proc:none", "-Xlint:all,-path,-processing", "-Werror", "-d", classes, "-cp", jars}
	for _, source := range s.sources {
		found, err := fs.Glob(javaSources, path.Join("java", source, "*.java"))
		if err != nil || len(found) == 0 {
			return "", fmt.Errorf("no sources in java/%s (%w)", source, err)
		}
		compile = append(compile, found...)
	}
	commands := [][]string{compile}
	if s.after != "" {
		commands = append(commands, []string{"java", "-cp", classes + string(os.PathListSeparator) + jars, s.after, classes})
	}
	for _, command := range commands {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Dir = folder
		if output, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", command[0], err, output)
		}
	}
	return classes, nil
}

// selectMethods are the flags of JUnit's console that choose tests by their names, class.method(). Those with
// parameters, class.method(A, B)[1], are chosen for all of them.
func selectMethods(only []string) (flags []string) {
	for _, test := range only {
		method, rest, _ := strings.Cut(test, "(")
		parameters, _, _ := strings.Cut(rest, ")")
		if parameters != "" {
			parameters = "(" + parameters + ")"
		}
		at := strings.LastIndex(method, ".")
		flags = append(flags, "--select-method="+method[:at]+"#"+method[at+1:]+parameters)
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}
