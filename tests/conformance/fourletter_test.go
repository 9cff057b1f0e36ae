package conformance

import (
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
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
func keys(text string) (all []string) {
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		all = append(all, key)
	}
	return all
}

// TestVersion: the embedded server reports the version that it is compared with.
func TestVersion(t *testing.T) {
	p := servers(t)
	named := regexp.MustCompile(`(?m)^zookeeper\.version=([0-9.]+)-`)
	for _, s := range []server{p.reference, p.subject} {
		if found := named.FindStringSubmatch(fourLetter(t, s, "envi")); found == nil || found[1] != modelled {
			t.Errorf("%T names its version %q, not %s", s, found, modelled)
		}
	}
}

// wantedMetrics are the metrics that clients and tests read.
var wantedMetrics = []string{
	"zk_version", "zk_server_state", "zk_avg_latency", "zk_max_latency", "zk_min_latency",
	"zk_packets_received", "zk_packets_sent", "zk_num_alive_connections", "zk_outstanding_requests",
	"zk_znode_count", "zk_watch_count", "zk_ephemerals_count", "zk_approximate_data_size",
	"zk_global_sessions", "zk_local_sessions",
}

func TestFourLetterWords(t *testing.T) {
	p := servers(t)
	for _, word := range []string{"ruok", "isro"} {
		if a, b := fourLetter(t, p.reference, word), fourLetter(t, p.subject, word); a != b {
			t.Errorf("%s: %q and %q", word, a, b)
		}
	}
	for _, word := range []string{"srvr", "stat"} {
		if a, b := shape(fourLetter(t, p.reference, word)), shape(fourLetter(t, p.subject, word)); a != b {
			t.Errorf("%s: the reference says\n%s\nand the subject\n%s", word, a, b)
		}
	}
	if a, b := keys(fourLetter(t, p.reference, "envi")), keys(fourLetter(t, p.subject, "envi")); !slices.Equal(a, b) {
		t.Errorf("envi: the reference names %q, and the subject %q", a, b)
	}
	right, ours := metrics(t, p.reference), metrics(t, p.subject)
	for _, name := range wantedMetrics {
		if _, ok := ours[name]; !ok {
			t.Errorf("mntr has no %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		value, ok := right[name]
		switch {
		case !ok:
			t.Errorf("mntr has %s, which the reference has not", name)
		case name != "zk_version" && shape(value) != shape(ours[name]):
			t.Errorf("%s is %q, and %q of the reference", name, ours[name], value)
		}
	}
}

// TestMetricsCount compares what mntr counts, on servers where nothing else happens.
func TestMetricsCount(t *testing.T) {
	const run = "/metrics"
	want := map[string]string{
		"zk_ephemerals_count": "1", "zk_watch_count": "3", "zk_global_sessions": "2",
		"zk_num_alive_connections": "3", // and the one that asks
	}
	for _, s := range []server{startReal(t, undisturbed), startSubject(t, undisturbed)} {
		var clients [2]*caretaker
		for i := range clients {
			c, err := newCaretaker(s.Addr(), run)
			if err != nil {
				t.Fatal(err)
			}
			defer c.leave()
			clients[i] = c
		}
		_, err := clients[0].ask(op("create", "~"), op("create", "~/e").with("flags", 1), op("exists", "~/e").with("watch", true))
		if err != nil {
			t.Fatal(err)
		}
		_, err = clients[1].ask(op("exists", "~/e").with("watch", true), op("getChildren", "~").with("watch", true))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			got := metrics(t, s)
			maps.DeleteFunc(got, func(name, _ string) bool { return want[name] == "" })
			if maps.Equal(got, want) {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("%T counts %v, not %v", s, got, want)
				break
			}
		}
	}
}
