package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// result has the results of all outages of one length.
type result struct {
	kind    string
	timeout time.Duration
	length  float64

	mu      sync.Mutex
	outages int
	lost    int
	// Outages that do not count, and what was lost in them.
	disturbed, lostToo int

	tried int
	most  int
	back  []time.Duration
	spare []time.Duration
}

func (r *result) add(o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.slow > r.timeout/100+probeEvery || o.left < r.timeout*22/100 {
		r.disturbed++
		if o.lost {
			r.lostToo++
		}
		return
	}
	r.outages++
	r.tried += o.tried
	r.most = max(r.most, o.tried)
	if o.lost {
		r.lost++
		return
	}
	r.back = append(r.back, o.back)
	r.spare = append(r.spare, o.spare)
}

func writeHeader(to io.Writer) {
	_, _ = fmt.Fprintln(to, "servers  T      outage   outages  lost  disturbed (lost)  attempts (most)  back p50      p99      max   spare")
}

func (r *result) write(to io.Writer) {
	slices.Sort(r.back)
	spare := "     -"
	if len(r.spare) > 0 {
		spare = fmt.Sprintf("%.3f T", float64(slices.Min(r.spare))/float64(r.timeout))
	}
	_, _ = fmt.Fprintf(to, "%-7s  %-5v  %.2f T   %7d  %4d  %9d (%d)  %8.1f (%d)    %s  %s  %s  %s\n", r.kind, r.timeout, r.length, r.outages, r.lost, r.disturbed, r.lostToo,
		float64(r.tried)/float64(max(r.outages, 1)), r.most, quantile(r.back, 0.5), quantile(r.back, 0.99), quantile(r.back, 1), spare)
}

// quantile gives one of sorted durations, in milliseconds.
func quantile(sorted []time.Duration, q float64) string {
	if len(sorted) == 0 {
		return "      -"
	}
	at := sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
	return fmt.Sprintf("%4d ms", at.Milliseconds())
}
