package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChanges(t *testing.T) {
	ratio := func(workload string, n int, least, median, most float64) comparison {
		return comparison{workload, n, "turnstile", "zklock", summary{Median: median, Least: least, Most: most, Rounds: 3}}
	}
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

// TestArchive: every result that is kept can be read, and compared with itself.
func TestArchive(t *testing.T) {
	files, err := filepath.Glob("results/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		found, err := readResult(file)
		require.NoError(t, err)
		var said strings.Builder
		require.NoError(t, found.tellChanges(&said, file))
		require.Equal(t, len(found.Ratios), strings.Count(said.String(), "(1.00)\n"), said.String())
	}
}
