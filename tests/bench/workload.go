package main

import (
	"context"
	"slices"
	"time"
)

// figures are the results of one measurement, by the keys of the metrics.
type figures map[string]float64

// better says which figure is the better one.
type better int

const (
	neither better = iota // no ratios
	less
	more
)

// metric is something that a workload measures.
type metric struct {
	key, unit string
	better    better
}

// workload is something to measure. The first of its metrics has its name, the others have their keys behind it.
type workload struct {
	name    string
	per     string // what n counts
	sizes   []int
	quick   []int // sizes of a quick run
	metrics []metric
	peers   []peer // in the order in which they are measured
	alone   string // why it is for a server alone
	named   bool   // it takes long, and runs only when it is named
}

// peer is something that is measured.
type peer struct {
	name    string
	measure func(ctx context.Context, t trial) (figures, error)
}

// The names of the peers.
const (
	bareRequests  = "bare"
	bareExists    = "exists"
	batched       = "batched"
	inMemory      = "memory"
	inChannel     = "channel"
	goZkLock      = "zklock"
	ours          = "turnstile"
	oursAsActors  = "turnstile-actors"
	oursNoSyncs   = "turnstile-no-syncs"
	oursInCohorts = "turnstile-cohort"
	oursByGateway = "turnstile-gateway"
	oursSessions  = "turnstile-sessions"
	curatorsMutex = "curator"
	kazoosLock    = "kazoo"

	oursByGatewayInCohorts = "turnstile-gateway-cohort"
)

// trial has the settings of one measurement.
type trial struct {
	stage *stage
	o     options
	peer  string
	other *foreign // the library of other processes
	n     int
	path  string // exists, and is nobody else's
	heap  string // file for a profile of the waiters' heap; empty for none
}

// timeout is the session timeout where a workload is not about it: sessions are not to end under a load.
const timeout = 30 * time.Second

// workloads are all that there are, in the order in which they run.
var workloads = []workload{uncontended, sticky, many, one, cohort, inside, pair, processes, queue, memoryUse, restart, idle, gatewayUse, lookAhead}

func workloadNames() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
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

// peersFor gives the peers of a run.
func (w workload) peersFor(o options) []peer {
	return slices.DeleteFunc(slices.Clone(w.peers), func(p peer) bool {
		_, other := libraries[p.name]
		return other && !o.peers || len(o.only) > 0 && !slices.Contains(o.only, p.name)
	})
}
