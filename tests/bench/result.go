package main

import (
	"strconv"
	"strings"
)

// result has the results of a run.
type result struct {
	Servers string       `json:"servers"`
	Members int          `json:"members"` // how many servers
	Machine string       `json:"machine"`
	Rounds  int          `json:"rounds"`
	Figures []figure     `json:"figures"`
	Ratios  []comparison `json:"ratios"`
	Remarks []string     `json:"remarks"`
	failed  bool
}

// figure is one metric of one peer at one size.
type figure struct {
	Workload string  `json:"workload"` // the metric's name
	N        int     `json:"n"`
	Peer     string  `json:"peer"`
	Unit     string  `json:"unit"`
	Figure   summary `json:"figure"`
}

// comparison tells how many times better Turnstile is than another.
type comparison struct {
	Workload string  `json:"workload"`
	N        int     `json:"n"`
	Peer     string  `json:"peer"`    // Turnstile
	Against  string  `json:"against"` // the other
	Ratio    summary `json:"ratio"`
}

// cellKey names a peer at a size.
type cellKey struct {
	n    int
	peer string
}

// rounds gives the results of one workload's rounds; nil where there is nothing.
type rounds map[cellKey][]figures

// figuresOf summarizes every metric of every peer, in the order of the metrics.
func (r rounds) figuresOf(w workload, n int, peers []peer) (all []figure) {
	for _, m := range w.metrics {
		for _, p := range peers {
			var values []float64
			for _, found := range r[cellKey{n, p.name}] {
				if value, ok := found[m.name]; ok {
					values = append(values, value)
				}
			}
			if len(values) > 0 {
				all = append(all, figure{m.name, n, p.name, m.unit, summarize(values)})
			}
		}
	}
	return all
}

// ratiosOf compares ours with the others, round by round.
func (r rounds) ratiosOf(w workload, n int, peers []peer) (all []comparison) {
	for _, m := range w.metrics {
		for _, mine := range peers {
			if m.better == neither || !isOurs(mine.name) {
				continue
			}
			for _, other := range peers {
				if isOurs(other.name) {
					continue
				}
				if ratios := r.ratios(m, cellKey{n, mine.name}, cellKey{n, other.name}); len(ratios) > 0 {
					all = append(all, comparison{m.name, n, mine.name, other.name, summarize(ratios)})
				}
			}
		}
	}
	return all
}

// growthOf compares one size with the first: above 1 means that the larger one is better.
func (r rounds) growthOf(w workload, n, first int, peers []peer) (all []comparison) {
	for _, m := range w.metrics {
		for _, p := range peers {
			if ratios := r.ratios(m, cellKey{n, p.name}, cellKey{first, p.name}); m.better != neither && len(ratios) > 0 {
				all = append(all, comparison{m.name, n, p.name, strconv.Itoa(first), summarize(ratios)})
			}
		}
	}
	return all
}

func isOurs(name string) bool { return strings.HasPrefix(name, ours) }

// ratios gives the ratios of the rounds in which both have taken part; above 1 means that mine is
// better.
func (r rounds) ratios(m metric, mine, other cellKey) (all []float64) {
	for round := range min(len(r[mine]), len(r[other])) {
		a, hasA := r[mine][round][m.name]
		b, hasB := r[other][round][m.name]
		if m.better == less {
			a, b = b, a
		}
		if hasA && hasB && a > 0 && b > 0 {
			all = append(all, a/b)
		}
	}
	return all
}
