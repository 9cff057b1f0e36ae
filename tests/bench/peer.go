package main

import (
	"cmp"
	"context"
	"slices"
)

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
	oursInLong    = "turnstile-cohort-1000"
	oursByGateway = "turnstile-gateway"
	oursSessions  = "turnstile-sessions"
	curatorsMutex = "curator"
	kazoosLock    = "kazoo"

	oursByGatewayInCohorts = "turnstile-gateway-cohort"
)

// peer is something that is measured.
type peer struct {
	name    string
	measure func(ctx context.Context, t trial) (figures, error)
}

// peersFor gives the peers that a run measures.
func (w workload) peersFor(o options, others []*foreign) []peer {
	all := w.peers(others)
	if len(o.only) > 0 {
		all = slices.DeleteFunc(all, func(p peer) bool { return !slices.Contains(o.only, p.name) })
	}
	return all
}

// peers gives the peers of a workload, in the order in which they are measured.
func (w workload) peers(others []*foreign) []peer {
	var all []peer
	if w.bare != nil {
		all = append(all, peer{cmp.Or(w.floor, bareRequests), w.bare})
	}
	if w.batched != nil {
		all = append(all, peer{batched, w.batched})
	}
	if w.library != nil && !w.growth && !w.alike {
		all = append(all, w.inProcess(goZkLock, openZkLock))
	}
	if w.library != nil {
		open := w.ours
		if open == nil {
			open = openTurnstile
		}
		all = append(all, w.inProcess(ours, open))
	}
	if w.actors != nil {
		all = append(all, peer{oursAsActors, w.actors})
	}
	if w.cohorts {
		all = append(all, w.inProcess(oursInCohorts, nil))
	}
	if w.longCohorts {
		all = append(all, w.inProcess(oursInLong, nil))
	}
	if w.noSyncs {
		all = append(all, w.inProcess(oursNoSyncs, nil))
	}
	all = append(all, w.others...)
	if w.foreign != nil {
		for _, other := range others {
			all = append(all, peer{other.name, func(ctx context.Context, t trial) (figures, error) { return w.foreign(ctx, t, other) }})
		}
	}
	return all
}

func (w workload) inProcess(name string, open opener) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) { return w.library(ctx, t, open) }}
}

// libraries are the peers that child processes of this program can be.
var libraries = map[string]opener{goZkLock: openZkLock, ours: openTurnstile, oursInCohorts: openCohort(fewGrants), oursInLong: openCohort(manyGrants)}
