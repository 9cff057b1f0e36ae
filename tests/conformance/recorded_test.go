package conformance

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// both are two ways to start a server: a real one, and one that is to be like it.
type both struct{ real, embedded func(testing.TB) server }

// alone is for servers that no other test uses.
func alone(c conditions) both {
	return both{
		real:     func(t testing.TB) server { return startReal(t, c) },
		embedded: func(t testing.TB) server { return startSubject(t, c) },
	}
}

// each runs a test on a server of each kind. Without -run, the real one comes first.
func (b both) each(t *testing.T, do func(*testing.T, server)) {
	t.Run("real", func(t *testing.T) { do(t, b.real(t)) })
	t.Run("embedded", func(t *testing.T) {
		if rewriting() {
			t.Skip("only the answers of a real server are recorded")
		}
		do(t, b.embedded(t))
	})
}

// rewriting says that answers are recorded anew.
func rewriting() bool {
	return flag.Lookup("rewrite").Value.String() == "true" // the flag of package datadriven
}

// recorded holds a server to the answers that a file of testdata has, directive by directive.
func recorded(t *testing.T, file string, answer func(t *testing.T, d *datadriven.TestData) string) {
	t.Helper()
	datadriven.RunTest(t, filepath.Join("testdata", file+".txt"), answer)
}

// answerer carries out the directive play on a server.
func answerer(s server) func(*testing.T, *datadriven.TestData) string {
	return func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "play" {
			d.Fatalf(t, "no such directive")
		}
		operations, err := parseOperations(d.Input)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		heard, err := play(s.Addr(), runs.Add(1), operations)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return heard.String()
	}
}
