package main

import (
	"context"
	"time"
)

// figures are the results of one measurement, by the names of the metrics.
type figures map[string]float64

// allGrants is the number of all grants. It is no metric, and is not printed.
const allGrants = "grants"

// better says which figure is the better one.
type better int

const (
	neither better = iota // no ratios
	less
	more
)

// metric is something that a workload measures.
type metric struct {
	name   string // in the output
	unit   string
	better better
	title  string // of its chart
}

// workload is something to measure. Each function measures one kind of peer; where it is nil, those do not take part.
type workload struct {
	name    string
	per     string // what n counts
	sizes   []int
	quick   []int // sizes of a quick run
	metrics []metric
	floor   string // the name of the figures of bare; empty: bare
	alone   bool   // it is for a server alone: it says why in the remark
	remark  string
	// growth: only Turnstile is measured, all sizes in each round, and each size is compared with the first.
	growth bool
	// alike: it is about Turnstile beside its floor, and no other library takes part.
	alike bool
	// named: it takes long, and runs only when it is named.
	named bool
	// cohorts: Turnstile is measured with cohorts of fewGrants, too.
	cohorts bool
	// longCohorts: and with cohorts of manyGrants.
	longCohorts bool
	// noSyncs: Turnstile is measured without its syncs of idle sessions, too.
	noSyncs bool
	// ours opens Turnstile's sessions; where it is nil, as they are by default.
	ours opener

	// others are peers of this workload alone.
	others []peer

	bare    func(ctx context.Context, t trial) (figures, error)
	batched func(ctx context.Context, t trial) (figures, error)
	library func(ctx context.Context, t trial, open opener) (figures, error)
	actors  func(ctx context.Context, t trial) (figures, error)
	foreign func(ctx context.Context, t trial, other *foreign) (figures, error)
}

// trial has the settings of one measurement.
type trial struct {
	stage *stage
	o     options
	peer  string
	n     int
	path  string // exists, and is nobody else's
	heap  string // file for a profile of the waiters' heap; empty for none
}

// timeout is the session timeout where a workload is not about it: sessions are not to end under a load.
const timeout = 30 * time.Second

// workloads are all that there are, in the order in which they run. The file of one that is about a single mechanism adds it.
var workloads = []workload{uncontended, sticky, many, one, cohort, inside, growth, pair, processes, queue, memoryUse, failover, restart, idle, gatewayUse}

func workloadNames() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

func workloadNamed(name string) (workload, bool) {
	for _, w := range workloads {
		if w.name == name {
			return w, true
		}
	}
	return workload{}, false
}

// sizesFor gives the sizes of a run.
func (w workload) sizesFor(o options) []int {
	switch {
	case len(o.sizes) > 0:
		return o.sizes
	case o.quick:
		return w.quick
	}
	return w.sizes
}
