package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ratio is one of Turnstile to zk.Lock.
func ratio(workload string, n int, least, median, most float64) comparison {
	return comparison{workload, n, "turnstile", "zklock", summary{Median: median, Least: least, Most: most, Rounds: 3}}
}

func TestChanges(t *testing.T) {
	before := result{Ratios: []comparison{ratio("one", 16, 8, 10, 11), ratio("one", 128, 15, 16, 17), ratio("many", 64, 4, 5, 6),
		ratio("gone", 1, 1, 1, 1)}}
	now := result{Ratios: []comparison{ratio("many", 64, 1, 2, 3), ratio("one", 16, 9, 9.5, 12), ratio("one", 128, 19, 20, 22),
		ratio("new", 1, 1, 1, 1)}}
	var said []string
	for _, c := range changes(before, now) {
		said = append(said, c.String())
	}
	require.Equal(t, []string{
		"change many n=64 turnstile/zklock 5 -> 2 (0.40) apart: worse",
		"change one n=16 turnstile/zklock 10 -> 9.5 (0.95)",
		"change one n=128 turnstile/zklock 16 -> 20 (1.25) apart: better",
	}, said)
}

// TestAgainstItself: a result that was written and read again differs from itself in nothing.
func TestAgainstItself(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	to, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, result{Ratios: []comparison{ratio("one", 16, 8, 10, 11), ratio("many", 64, 4, 5, 6)}}.writeJSON(to))
	require.NoError(t, to.Close())
	found, err := readResult(file)
	require.NoError(t, err)
	var said strings.Builder
	require.NoError(t, found.tellChanges(&said, file))
	require.Equal(t, 2, strings.Count(said.String(), "(1.00)\n"), said.String())
}
