package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goTest runs the real go test on a module with these files, so that the package is tested with the
// toolchain's own output.
func goTest(t *testing.T, files map[string]string) (*tally, string, error) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module sample\n\ngo 1.25\n"
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off")
	events, runErr := cmd.Output()
	if exit := (*exec.ExitError)(nil); runErr != nil && !errors.As(runErr, &exit) {
		t.Fatal(runErr)
	}
	var printed strings.Builder
	counts := newTally(&printed)
	if err := counts.read(strings.NewReader(string(events))); err != nil {
		t.Fatal(err)
	}
	return counts, printed.String(), runErr
}

const header = "package a\n\nimport \"testing\"\n\n"

func TestOutcomes(t *testing.T) {
	pass := header + "func TestPass(t *testing.T) { t.Run(\"sub\", func(*testing.T) {}) }\n"
	for name, tc := range map[string]struct {
		files   map[string]string
		summary string
		printed string
		ok      bool // without -no-skips
		strict  bool // with it
	}{
		"pass": {
			files:   map[string]string{"a_test.go": pass},
			summary: "2 passed, 0 failed, 0 skipped", printed: "ok   sample", ok: true, strict: true,
		},
		"skip": {
			files:   map[string]string{"a_test.go": pass + "func TestNot(t *testing.T) { t.Skip(\"no server\") }\n"},
			summary: "2 passed, 0 failed, 1 skipped", printed: "no server", ok: true,
		},
		"fail": {
			files:   map[string]string{"a_test.go": pass + "func TestBad(t *testing.T) { t.Error(\"wrong sum\") }\n"},
			summary: "2 passed, 1 failed, 0 skipped", printed: "wrong sum",
		},
		"build": {
			files:   map[string]string{"a_test.go": pass, "b/b_test.go": "package b\n\nvar x int = \"text\"\n"},
			summary: "2 passed, 1 failed, 0 skipped", printed: "cannot use",
		},
		"exit": {
			files: map[string]string{"a_test.go": pass,
				"b/b_test.go": "package b\n\nimport (\"os\"; \"testing\")\n\nfunc TestMain(*testing.M) { os.Exit(3) }\n"},
			summary: "2 passed, 1 failed, 0 skipped", printed: "exit status 3",
		},
		"panic": {
			files:   map[string]string{"a_test.go": pass + "func TestPanic(*testing.T) { panic(\"at the disco\") }\n"},
			summary: "2 passed, 1 failed, 0 skipped", printed: "at the disco",
		},
		"nothing": {
			files:   map[string]string{"a.go": "package a\n"},
			summary: "0 passed, 0 failed, 0 skipped",
		},
	} {
		t.Run(name, func(t *testing.T) {
			counts, printed, runErr := goTest(t, tc.files)
			if got := counts.summary(); got != tc.summary {
				t.Errorf("summary %q, want %q", got, tc.summary)
			}
			if !strings.Contains(printed, tc.printed) {
				t.Errorf("%q is not in:\n%s", tc.printed, printed)
			}
			if err := counts.verdict(false, runErr); (err == nil) != tc.ok {
				t.Errorf("verdict: %v", err)
			}
			if err := counts.verdict(true, runErr); (err == nil) != tc.strict {
				t.Errorf("verdict with -no-skips: %v", err)
			}
		})
	}
}

func TestUnhappyGoTestIsAFailure(t *testing.T) {
	tally := newTally(&strings.Builder{})
	tally.count("sample", counts{passed: 1})
	if tally.verdict(false, errors.New("exit status 1")) == nil {
		t.Error("a failure of go test that no event tells of was overlooked")
	}
}

func TestModules(t *testing.T) {
	args := []string{"-race", "-count=1", "-gcflags=all=-x", "./actors", "github.com/turnstile-locks/turnstile/tests"}
	all, err := modules([]string{"tests/dashboard", "tests/soak"}, []string{"tests/dashboard"}, args)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []module{
		{"tests/dashboard", []string{"-count=1", "./..."}},
		{"tests/soak", []string{"-race", "-count=1", "-gcflags=all=-x", "./..."}},
	} {
		if got := all[i]; got.folder != want.folder || !slices.Equal(got.args, want.args) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if _, err := modules([]string{"tests/soak"}, []string{"tests/dashboard"}, args); err == nil {
		t.Error("a folder that is not tested is taken")
	}
}
