package interop

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// StartCurator starts a JVM with Curator and stops it when the test ends. It
// calls [Require].
func StartCurator(t testing.TB) *Worker {
	t.Helper()
	Require(t)
	w, err := NewCurator()
	if err != nil {
		t.Fatal(err)
	}
	w.stopWith(t)
	return w
}

// NewCurator starts a JVM with Curator. The caller stops it.
func NewCurator() (*Worker, error) {
	command, err := curatorCommand()
	if err != nil {
		return nil, err
	}
	return newWorker("curator", command...)
}

// NewCuratorWith is [NewCurator] with flags for the JVM. They override the default flags, which
// make it start quickly.
func NewCuratorWith(flags ...string) (*Worker, error) {
	command, err := curatorCommand()
	if err != nil {
		return nil, err
	}
	last := len(command) - 3 // -cp, the class path, the class
	return newWorker("curator", slices.Insert(command, last, flags...)...)
}

// curatorCommand is the command line of a JVM that takes jobs from its standard
// input, or does the one that is appended.
func curatorCommand() ([]string, error) {
	folder, err := prepared.prepare()
	if err != nil {
		return nil, err
	}
	jars, err := curatorClassPath()
	if err != nil {
		return nil, err
	}
	path := []string{classes(folder), jars}
	return []string{
		"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", strings.Join(path, string(os.PathListSeparator)), "interop.Worker",
	}, nil
}
