package main

import (
	"math"
	"slices"
	"time"
)

// summary has the statistics of the rounds.
type summary struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	Rounds int     `json:"rounds"`
}

// summarize needs one value at least.
func summarize(values []float64) summary {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return summary{median, sorted[0], sorted[len(sorted)-1], len(sorted)}
}

// percentile is the least value that so many per cent of the values do not exceed. It sorts them. Of none it is 0.
func percentile(values []time.Duration, percent float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[max(int(math.Ceil(percent/100*float64(len(values)))), 1)-1]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
