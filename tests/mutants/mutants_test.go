package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// TestDraw: a seed decides which changes are drawn, and each changes one file that it can still be applied to.
func TestRealDraw(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	first, err := draw(root, "a", 2)
	require.NoError(t, err)
	again, err := draw(root, "a", 2)
	require.NoError(t, err)
	other, err := draw(root, "b", 2)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
	for _, c := range first {
		_, err := c.Overlay(root, t.TempDir())
		require.NoError(t, err)
	}
}

// TestFirstFailure: the package that has failed, and its first test that has.
func TestFirstFailure(t *testing.T) {
	for output, want := range map[string]string{
		"ok  \t" + module + "locks\t0.1s\n": "",
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL\nFAIL\t" + module + "locks\t0.1s\n": "locks TestA",
		"panic: test timed out after 4m0s\nFAIL\t" + module + "actors/queue\t240s\nok\n":                  "actors/queue test timed out after 4m0s",
		"FAIL\t" + module + "locks [build failed]\n":                                                      "locks",
	} {
		require.Equal(t, want, firstFailure(strings.NewReader(output)), output)
	}
}
