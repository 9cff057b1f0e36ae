package interop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// NewCuratorWith starts a JVM with Curator. Its flags override the default ones, which make it start quickly. The caller
// stops it.
func NewCuratorWith(flags ...string) (*Worker, error) {
	command, err := CuratorCommand("Worker", flags...)
	return newWorker("curator", command, err)
}

// CuratorCommand is the command line of a JVM that runs a class of package interop with Curator; arguments follow it.
// Programs that are no tests call [RemovePrograms] when it runs no more.
func CuratorCommand(class string, flags ...string) ([]string, error) {
	folder, err := prepared()
	if err != nil {
		return nil, err
	}
	jars, err := curatorClassPath()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{
		"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
	}, flags, []string{"-cp", strings.Join([]string{classes(folder), jars}, string(os.PathListSeparator)), "interop." + class}), nil
}

// NewKazoo starts a Python with kazoo, isolated from the environment, which may speak of another Python. The caller
// stops it.
func NewKazoo() (*Worker, error) {
	folder, err := prepared()
	if err != nil {
		return nil, err
	}
	python, err := pinned.Python()
	return newWorker("kazoo", []string{python, "-E", "-s", "-B", filepath.Join(folder, "python", "worker.py")}, err)
}
