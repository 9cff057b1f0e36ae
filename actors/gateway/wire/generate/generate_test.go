package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCodeIsFresh: the code that is checked in is generated from the file beside it. If not: go
// generate ./actors/gateway/wire.
func TestCodeIsFresh(t *testing.T) {
	code, err := Generate(t.Context(), "../wire.proto")
	require.NoError(t, err)
	checkedIn, err := os.ReadFile("../wire.pb.go")
	require.NoError(t, err)
	if line, was, is, differ := firstDifference(checkedIn, code); differ {
		t.Fatalf("wire.pb.go is not what wire.proto says: go generate ./actors/gateway/wire\nline %d is  %q\nit should be %q",
			line, was, is)
	}
}

// TestFirstDifference: of two files that differ, the line is told where they begin to.
func TestFirstDifference(t *testing.T) {
	for _, c := range []struct {
		a, b, was, is string
		line          int
	}{
		{"a\nb\nc\n", "a\nB\nc\n", "b", "B", 2},
		{"a\n", "a\nb\n", "", "b", 2},
		{"a\nb", "a", "b", "", 2},
		{"a\n", "a", "", "", 2},
		{"", "x", "", "x", 1},
	} {
		line, was, is, differ := firstDifference([]byte(c.a), []byte(c.b))
		require.True(t, differ, "%q and %q", c.a, c.b)
		require.Equal(t, []any{c.line, c.was, c.is}, []any{line, was, is}, "%q and %q", c.a, c.b)
	}
	_, _, _, differ := firstDifference([]byte("a\nb\n"), []byte("a\nb\n"))
	require.False(t, differ)
}

// firstDifference gives the number of the first line in which two files differ, and that line of each; of the shorter one
// it is empty. The files have a hundred thousand characters, which nobody reads in a test's output.
func firstDifference(a, b []byte) (line int, was, is string, differ bool) {
	if bytes.Equal(a, b) {
		return 0, "", "", false
	}
	for line = 1; ; line++ {
		before, restA, moreA := bytes.Cut(a, []byte("\n"))
		after, restB, moreB := bytes.Cut(b, []byte("\n"))
		if !bytes.Equal(before, after) || !moreA && !moreB {
			return line, string(before), string(after), true
		}
		a, b = restA, restB
	}
}
