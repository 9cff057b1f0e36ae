package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for n := 100; n > 0; n-- {
		hundred = append(hundred, time.Duration(n))
	}
	require.EqualValues(t, 50, percentile(hundred, 50))
	require.EqualValues(t, 99, percentile(hundred, 99))
	require.EqualValues(t, 1, percentile(hundred, 0))
	require.Zero(t, percentile(nil, 50))
}

// A figure is the median. A ratio is above 1 where ours is better, and compares what was measured in the same round.
func TestFiguresAndRatios(t *testing.T) {
	w := workload{name: "w", metrics: []metric{{"time", "s", less}, {"rate", "1/s", more}, {"part", "1", neither}, {"none", "1", more}},
		peers: []peer{{name: ours}, {name: goZkLock}}}
	all, ratios := rounds{ours: {{"time": 2, "rate": 10}, {"time": 4, "rate": 30, "part": 9}},
		goZkLock: {{"time": 6, "rate": 5}, {"time": 4, "rate": 10}, {"time": 1}}}.figures(w, 7)
	lines := ""
	for _, f := range append(all, ratios...) {
		lines += fmt.Sprintln(f)
	}
	require.Equal(t, `w n=7 turnstile 3.00 s (2.00..4.00, 2 rounds)
w n=7 zklock 4.00 s (1.00..6.00, 3 rounds)
w-rate n=7 turnstile 20.0 1/s (10.0..30.0, 2 rounds)
w-rate n=7 zklock 7.50 1/s (5.00..10.0, 2 rounds)
w-part n=7 turnstile 9.00 1 (9.00..9.00, 1 rounds)
ratio w n=7 turnstile/zklock 2.00 (1.00..3.00)
ratio w-rate n=7 turnstile/zklock 2.50 (2.00..3.00)
`, lines)
}

func TestNumber(t *testing.T) {
	for value, text := range map[float64]string{0: "0", 1: "1.00", 12.345: "12.3", 123.4: "123", 99999.5: "100000", 0.012345: "0.0123", -3.21: "-3.21"} {
		require.Equal(t, text, number(value))
	}
}
