package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCodeIsFresh: the code that is checked in is that of the file beside it. If not: go generate
// ./actors/gateway/wire.
func TestCodeIsFresh(t *testing.T) {
	code, err := Generate(t.Context(), "../wire.proto")
	require.NoError(t, err)
	checkedIn, err := os.ReadFile("../wire.pb.go")
	require.NoError(t, err)
	require.Equal(t, string(checkedIn), string(code))
}
