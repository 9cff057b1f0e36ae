package conformance

import (
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// fourLetter asks one of the questions that need no session.
func fourLetter(t *testing.T, s server, word string) string {
	t.Helper()
	conn, err := net.DialTimeout("tcp", s.Addr(), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, word); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%s: %v", word, err)
	}
	return string(answer)
}

var (
	release = regexp.MustCompile(`(?m)^(Zookeeper version: ).*$`)
	digits  = regexp.MustCompile(`0x[0-9a-f]+|-?\d+`)
)

// shape is a text with every number left out, and what comes after the version's name.
func shape(text string) string {
	return digits.ReplaceAllString(release.ReplaceAllString(text, "$1..."), "N")
}

// metrics are the answer to mntr.
func metrics(t *testing.T, s server) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(fourLetter(t, s, "mntr")) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			if strings.TrimSpace(line) == "" {
				continue
			}
			t.Errorf("a line of mntr from %T without a tab: %q", s, line)
		}
		out[name] = value
	}
	return out
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
	all := metrics(t, s)
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
		got := metrics(t, s)
		maps.DeleteFunc(got, func(name, _ string) bool { return want[name] == "" })
		if maps.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			require.Equal(t, want, got)
		}
	}
}
