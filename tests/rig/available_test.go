package rig

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestAvailableSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Available()
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"java", "apt-get install"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
		}
	}
	if _, err := NewStandalone(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("NewStandalone: %v", err)
	}
	if _, err := NewEnsemble(3); !errors.Is(err, ErrUnavailable) {
		t.Errorf("NewEnsemble: %v", err)
	}
}

// verdict is a testing.TB that remembers how it was ended.
type verdict struct {
	testing.TB
	text string
}

func (v *verdict) Helper()                        {}
func (v *verdict) Skip(args ...any)               { v.end("skip: " + fmt.Sprint(args...)) }
func (v *verdict) Fatalf(format string, a ...any) { v.end("fatal: " + fmt.Sprintf(format, a...)) }

// end keeps the first verdict; unlike a real one, it returns.
func (v *verdict) end(text string) {
	if v.text == "" {
		v.text = text
	}
}

func TestRequireSkipsUnlessServersAreRequired(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(HermeticVariable, "")
	for value, want := range map[string]string{"": "skip: ", "0": "skip: ", "1": "fatal: "} {
		t.Setenv(RequireVariable, value)
		v := &verdict{TB: t}
		Require(v)
		if !strings.HasPrefix(v.text, want) {
			t.Errorf("%s=%s: got %q", RequireVariable, value, v.text)
		}
	}
}

// TestHermeticRefuses: also where the servers are installed.
func TestHermeticRefuses(t *testing.T) {
	t.Setenv(HermeticVariable, "1")
	v := &verdict{TB: t}
	SkipUnless(v, nil)
	if !strings.HasPrefix(v.text, "fatal: ") {
		t.Errorf("got %q", v.text)
	}
}

func TestEnsembleOfOneIsRefused(t *testing.T) {
	if _, err := NewEnsemble(1); err == nil {
		t.Error("an ensemble of one was started")
	}
}
