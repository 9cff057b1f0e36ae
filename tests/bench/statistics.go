package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rounds gives the results of a workload's rounds at one size, by the peers.
type rounds map[string][]figures

// figure is a metric of one peer at one size, or a comparison of two: the median of the rounds, and their bounds.
type figure struct {
	metric, peer        string // the other one behind a slash
	n                   int
	unit                string // empty for a ratio
	median, least, most float64
	rounds              int
}

// titled is the name of a metric.
func (w workload) titled(m metric) string {
	if m == w.metrics[0] {
		return w.name
	}
	return w.name + "-" + m.key
}

// figures summarizes every metric of every peer, and compares ours with the others, round by round: above 1 means that ours is
// better.
func (r rounds) figures(w workload, n int) (all, ratios []figure) {
	for _, m := range w.metrics {
		for _, mine := range w.peers {
			var values []float64
			for _, found := range r[mine.name] {
				if value, ok := found[m.key]; ok {
					values = append(values, value)
				}
			}
			all = append(all, summarize(figure{metric: w.titled(m), peer: mine.name, n: n, unit: m.unit}, values)...)
			for _, other := range w.peers {
				if m.better != neither && isOurs(mine.name) && !isOurs(other.name) {
					ratios = append(ratios, summarize(figure{metric: w.titled(m), peer: mine.name + "/" + other.name, n: n}, r.ratios(m, mine.name, other.name))...)
				}
			}
		}
	}
	return all, ratios
}

func isOurs(name string) bool { return strings.HasPrefix(name, ours) }

// ratios gives those of the rounds in which both have taken part.
func (r rounds) ratios(m metric, mine, other string) (all []float64) {
	for round := range min(len(r[mine]), len(r[other])) {
		a, b := r[mine][round][m.key], r[other][round][m.key]
		if m.better == less {
			a, b = b, a
		}
		if a > 0 && b > 0 {
			all = append(all, a/b)
		}
	}
	return all
}

// summarize completes a figure; there is none of no values.
func summarize(f figure, values []float64) []figure {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	f.median, f.least, f.most, f.rounds = sorted[middle], sorted[0], sorted[len(sorted)-1], len(sorted)
	if len(sorted)%2 == 0 {
		f.median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return []figure{f}
}

func (f figure) String() string {
	text := fmt.Sprintf("%s n=%d %s %s", f.metric, f.n, f.peer, number(f.median))
	if f.unit == "" {
		return fmt.Sprintf("ratio %s (%s..%s)", text, number(f.least), number(f.most))
	}
	return fmt.Sprintf("%s %s (%s..%s, %d rounds)", text, f.unit, number(f.least), number(f.most), f.rounds)
}

// number has three digits that say something, and no exponent.
func number(value float64) string {
	digits := 0
	if size := math.Abs(value); size > 0 && size < 100 {
		digits = min(max(2-int(math.Floor(math.Log10(size))), 0), 6)
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
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
