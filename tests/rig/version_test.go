package rig

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// The server says of itself that it is of the version that was chosen.
func TestServersAreOfTheVersion(t *testing.T) {
	server := StartStandalone(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answer, err := server.Address().FourLetter(ctx, "srvr")
	if err != nil {
		t.Fatal(err)
	}
	if want := "Zookeeper version: " + Version() + "-"; !strings.HasPrefix(answer, want) {
		t.Errorf("%q does not begin with %q", answer, want)
	}
}

func TestVersionIsChosen(t *testing.T) {
	t.Setenv(VersionVariable, "")
	if got := Version(); got != DefaultVersion {
		t.Errorf("where nobody chooses it is %s", got)
	}
	versions, err := Versions()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		t.Setenv(VersionVariable, version)
		path, err := ClassPath()
		if errors.Is(err, ErrUnavailable) && (version == Debian || os.Getenv(RequireVariable) != "1") {
			t.Log(err) // Debian 12 alone has it
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for other := range strings.SplitSeq(path, string(os.PathListSeparator)) {
			if _, err := os.Stat(other); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(path, "/zookeeper-"+version+".jar") {
			t.Errorf("%s is served by %s", version, path)
		}
	}
}

func TestUnknownVersionIsRefused(t *testing.T) {
	t.Setenv(VersionVariable, "3.9.3")
	if _, err := NewStandalone(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "3.9.3 is none of 3.9.5, 3.8.6, 3.8.0") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNotFetchedSaysHow(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(VersionVariable, "3.9.5")
	if err := Available(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "make deps") {
		t.Errorf("got %v", err)
	}
}
