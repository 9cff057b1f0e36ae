package conformance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// fourLetter asks one of the questions that need no session.
func fourLetter(t *testing.T, s server, word string) string {
	t.Helper()
	answer, err := rig.Address(s.Addr()).FourLetter(scene.Deadline(t), word)
	require.NoError(t, err)
	return answer
}

var (
	release = regexp.MustCompile(`(?m)^(Zookeeper version: ).*$`)
	digits  = regexp.MustCompile(`0x[0-9a-f]+|-?\d+`)
)

// shape is a text with every number left out, and what comes after the version's name.
func shape(text string) string {
	return digits.ReplaceAllString(release.ReplaceAllString(text, "$1..."), "N")
}

// keys gives the text before the equals sign of each line. Lines without one are taken whole.
func keys(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		fmt.Fprintln(&out, key)
	}
	return out.String()
}

// shapesOfMetrics shows the metrics of some names, which are all of the embedded server's.
func shapesOfMetrics(t *testing.T, s server, names []string) string {
	all, err := rig.Address(s.Addr()).Mntr(scene.Deadline(t))
	require.NoError(t, err)
	require.Len(t, all, strings.Count(strings.TrimSpace(fourLetter(t, s, "mntr")), "\n")+1, "a line without a tab")
	if _, ours := s.(*embedded.Server); ours {
		for name := range all {
			if !slices.Contains(names, name) {
				t.Errorf("mntr has %s, which is not recorded", name)
			}
		}
	}
	var out strings.Builder
	for _, name := range names {
		value, ok := all[name]
		switch {
		case !ok:
			value = "missing"
		case name == "zk_version":
			value = "..." // of which envi has what is compared
		}
		fmt.Fprintln(&out, name, shape(value))
	}
	return out.String()
}

var named = regexp.MustCompile(`(?m)^zookeeper\.version=([0-9.]+)-`)

// version finds the version in the answer to envi.
func version(text string) string {
	if found := named.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return "none"
}

// countsMetrics is about what mntr counts, on a server where nothing else happens.
func countsMetrics(t *testing.T, s server) {
	want := map[string]string{
		"zk_ephemerals_count": "1", "zk_watch_count": "3", "zk_global_sessions": "2",
		"zk_num_alive_connections": "3", // and the one that asks
	}
	var clients [2]*caretaker
	for i := range clients {
		c, err := newCaretaker(s.Addr(), "/metrics")
		require.NoError(t, err)
		defer c.leave()
		clients[i] = c
	}
	_, err := clients[0].ask(op("create", "~"), op("create", "~/e").with("flags", 1), op("exists", "~/e").with("watch", true))
	require.NoError(t, err)
	_, err = clients[1].ask(op("exists", "~/e").with("watch", true), op("getChildren", "~").with("watch", true))
	require.NoError(t, err)
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		got, err := rig.Address(s.Addr()).Mntr(scene.Deadline(t))
		require.NoError(t, err)
		maps.DeleteFunc(got, func(name, _ string) bool { return want[name] == "" })
		if maps.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			require.Equal(t, want, got)
		}
	}
}
