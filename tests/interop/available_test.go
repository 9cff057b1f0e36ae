package interop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

func TestAvailableSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	err := Available()
	require.ErrorIs(t, err, ErrUnavailable)
	for _, want := range []string{"java", "javac", "apt-get install", "curator", "kazoo", "make deps"} {
		require.ErrorContains(t, err, want)
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
	for value, want := range map[string]string{"": "skip: ", "0": "skip: ", "1": "fatal: "} {
		t.Setenv(rig.RequireVariable, value)
		v := &verdict{TB: t}
		Require(v)
		require.True(t, strings.HasPrefix(v.text, want), "%q: %s", value, v.text)
	}
}
