package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The result that one run prints as JSON stands beside that of another run.
func TestTwoColumns(t *testing.T) {
	ours := result{Peer: "turnstile", Grants: 70, Wrong: map[string]int{}, Errors: map[string]int{"unlock: lost": 3}}
	theirs := result{Peer: "zklock", Grants: 50, Wrong: map[string]int{orphans: 2}, Errors: map[string]int{"lock: never returned": 9}}
	var out bytes.Buffer
	require.NoError(t, show(&out, true, theirs))
	name := filepath.Join(t.TempDir(), "theirs.json")
	require.NoError(t, os.WriteFile(name, out.Bytes(), 0o600))
	read, err := readResult(name)
	require.NoError(t, err)
	require.Equal(t, theirs, read)
	require.True(t, ours.clean())
	require.False(t, read.clean())

	out.Reset()
	require.NoError(t, show(&out, false, ours, read))
	require.Regexp(t, `(?m)^locks of +turnstile +zklock$`, out.String())
	require.Regexp(t, `(?m)^grants +70 +50$`, out.String())
	require.Regexp(t, `(?m)^orphans +0 +2$`, out.String())
	require.Regexp(t, `(?m)^error: unlock: lost +3 *$`, out.String())
	require.Regexp(t, `(?m)^error: lock: never returned +9$`, out.String())

	_, err = readResult(filepath.Join(t.TempDir(), "missing"))
	require.Error(t, err)
}

func TestResultsOfSeveralEnsembles(t *testing.T) {
	first := result{Seconds: 10, Grants: 30, Ensembles: 1, TreesDiffered: 1, LongestWhole: 2, endedEarly: true,
		Faults: map[string]int{"member-kill": 1}, Wrong: map[string]int{orphans: 0}, Errors: map[string]int{}}
	second := result{Seconds: 20, Grants: 30, Ensembles: 1, LongestWhole: 1,
		Faults: map[string]int{"member-kill": 2}, Wrong: map[string]int{orphans: 1}, Errors: map[string]int{"unlock: lost": 1}}
	both := first.and(second)
	require.Equal(t, result{Seconds: 30, Grants: 60, GrantsPerSecond: 2, Ensembles: 2, TreesDiffered: 1, LongestWhole: 2,
		Faults: map[string]int{"member-kill": 3}, Wrong: map[string]int{orphans: 1}, Errors: map[string]int{"unlock: lost": 1}}, both)
	require.False(t, both.clean())
}
