package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBelow: a part of a name is no root.
func TestBelow(t *testing.T) {
	for _, path := range []string{"/a", "/a/b", "/a/b/c"} {
		require.True(t, IsBelow("/", path))
		require.True(t, IsBelow("/a", path))
	}
	for _, path := range []string{"/", "/ab", "/b/a"} {
		require.False(t, IsBelow("/a", path), path)
	}
}
