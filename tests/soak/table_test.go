package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What one run prints as JSON, another prints beside its own.
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
