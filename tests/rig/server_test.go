package rig

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server says of itself that it is of the version that was chosen, and nothing stays of it.
func TestServer(t *testing.T) {
	server := StartStandalone(t)
	answer, err := server.Address().FourLetter(t.Context(), "srvr")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(answer, "Zookeeper version: "+Version()+"-"), answer)
	for range 2 {
		require.NoError(t, server.Stop())
	}
	require.NoDirExists(t, server.dir)
	require.Error(t, server.Restart(t.Context()))
}

func TestVersions(t *testing.T) {
	t.Setenv(VersionVariable, "")
	require.Equal(t, DefaultVersion, Version())
	versions, err := Versions()
	require.NoError(t, err)
	for _, version := range versions {
		t.Setenv(VersionVariable, version)
		path, err := ClassPath()
		if err != nil && (version == Debian || os.Getenv(RequireVariable) != "1") {
			require.ErrorIs(t, err, ErrUnavailable) // Debian 12 alone has it
			continue
		}
		require.NoError(t, err)
		for _, jar := range strings.Split(path, string(os.PathListSeparator)) {
			require.FileExists(t, jar)
		}
		require.Contains(t, path, "/zookeeper-"+version+".jar")
	}
	t.Setenv(VersionVariable, "3.9.3")
	_, err = NewStandalone()
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "3.9.3 is none of 3.9.5, 3.8.6, 3.8.0")
}

// What is missing is said, with what to do. Tests are skipped for it unless servers are required, and where no program of
// others may be started they fail in any case.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(VersionVariable, "3.9.5")
	_, err := NewEnsemble(3)
	require.ErrorIs(t, err, ErrUnavailable)
	for _, hint := range []string{"java", "apt-get install", "make deps"} {
		require.ErrorContains(t, err, hint)
	}
	for _, c := range []struct {
		hermetic, required string
		missing            error
		want               string
	}{{"", "", err, "skip"}, {"", "0", err, "skip"}, {"", "1", err, "fatal"}, {"", "", nil, ""}, {"1", "", nil, "fatal"}} {
		t.Setenv(HermeticVariable, c.hermetic)
		t.Setenv(RequireVariable, c.required)
		v := &verdict{TB: t}
		SkipUnless(v, c.missing)
		require.Equal(t, c.want, v.first, "%+v", c)
	}
}

// verdict is a testing.TB that remembers how it was ended; unlike a real one, it returns.
type verdict struct {
	testing.TB
	first string
}

func (v *verdict) Helper()               {}
func (v *verdict) Skip(...any)           { v.end("skip") }
func (v *verdict) Fatalf(string, ...any) { v.end("fatal") }

func (v *verdict) end(how string) {
	if v.first == "" {
		v.first = how
	}
}
