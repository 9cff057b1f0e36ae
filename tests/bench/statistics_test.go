package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSummarize(t *testing.T) {
	require.Equal(t, summary{2, 1, 9, 3}, summarize([]float64{9, 1, 2}))
	require.Equal(t, summary{2.5, 1, 9, 4}, summarize([]float64{9, 1, 2, 3}))
	require.Equal(t, summary{7, 7, 7, 1}, summarize([]float64{7}))
}

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for n := 100; n > 0; n-- {
		hundred = append(hundred, time.Duration(n))
	}
	require.EqualValues(t, 50, percentile(hundred, 50))
	require.EqualValues(t, 99, percentile(hundred, 99))
	require.EqualValues(t, 100, percentile(hundred, 100))
	require.EqualValues(t, 1, percentile(hundred, 0))
	require.Zero(t, percentile(nil, 50))
}

// A ratio is above 1 where ours is better, and compares what was measured in the same round.
func TestRatios(t *testing.T) {
	mine, other := cellKey{7, ours}, cellKey{7, goZkLock}
	r := rounds{mine: {{"time": 2, "rate": 10}, {"time": 4, "rate": 30}}, other: {{"time": 6, "rate": 5}, {"time": 4, "rate": 10}, {"time": 1}},
		{8, ours}: {{"time": 3}, {"time": 8}}}
	require.Equal(t, []float64{3, 1}, r.ratios(metric{name: "time", better: less}, mine, other))
	require.Equal(t, []float64{2, 3}, r.ratios(metric{name: "rate", better: more}, mine, other))
	require.Empty(t, r.ratios(metric{name: "other", better: more}, mine, other))
	w := workload{metrics: []metric{{"time", "s", less, ""}, {"rate", "1/s", neither, ""}}}
	peers := []peer{{name: goZkLock}, {name: ours}}
	require.Equal(t, []comparison{{"time", 7, ours, goZkLock, summary{2, 1, 3, 2}}}, r.ratiosOf(w, 7, peers))
	require.Len(t, r.figuresOf(w, 7, peers), 4)
	grown := r.growthOf(w, 8, 7, peers)
	require.Len(t, grown, 1)
	require.Equal(t, "ratio time n=8 turnstile/7 0.583 (0.500..0.667)", grown[0].line())
}

func TestNumber(t *testing.T) {
	for value, text := range map[float64]string{0: "0", 1: "1.00", 12.345: "12.3", 123.4: "123", 99999.5: "100000", 0.012345: "0.0123", -3.21: "-3.21"} {
		require.Equal(t, text, number(value))
	}
}
