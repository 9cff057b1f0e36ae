package interop

import (
	"path/filepath"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// StartKazoo starts a Python with kazoo and stops it when the test ends. It
// calls [Require].
func StartKazoo(t testing.TB) *Worker {
	t.Helper()
	Require(t)
	w, err := NewKazoo()
	if err != nil {
		t.Fatal(err)
	}
	w.stopWith(t)
	return w
}

// NewKazoo starts a Python with kazoo. The caller stops it.
func NewKazoo() (*Worker, error) {
	command, err := kazooCommand()
	if err != nil {
		return nil, err
	}
	return newWorker("kazoo", command...)
}

// kazooCommand is the command line of a Python that takes jobs from its standard
// input, or does the one that is appended. It is isolated from the environment,
// which may speak of another Python.
func kazooCommand() ([]string, error) {
	folder, err := prepared.prepare()
	if err != nil {
		return nil, err
	}
	python, err := pinned.Python()
	if err != nil {
		return nil, err
	}
	return []string{python, "-E", "-s", "-B", filepath.Join(folder, "python", "worker.py")}, nil
}
