package main

import "context"

// The names of the peers.
const (
	bareRequests  = "bare"
	goZkLock      = "zklock"
	ours          = "turnstile"
	oursAsActors  = "turnstile-actors"
	curatorsMutex = "curator"
	kazoosLock    = "kazoo"
)

// peer is something that is measured.
type peer struct {
	name    string
	measure func(ctx context.Context, t trial) (figures, error)
}

// peers are those that take part in a workload, in the order in which they are measured.
func (w workload) peers(others []*abroad) []peer {
	var all []peer
	if w.bare != nil {
		all = append(all, peer{bareRequests, w.bare})
	}
	if w.library != nil {
		all = append(all, w.inProcess(goZkLock, openZkLock), w.inProcess(ours, openTurnstile))
	}
	if w.actors != nil {
		all = append(all, peer{oursAsActors, w.actors})
	}
	if w.abroad != nil {
		for _, other := range others {
			all = append(all, peer{other.name, func(ctx context.Context, t trial) (figures, error) { return w.abroad(ctx, t, other) }})
		}
	}
	return all
}

func (w workload) inProcess(name string, open opener) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) { return w.library(ctx, t, open) }}
}

// libraries are the peers that child processes of this program can be.
var libraries = map[string]opener{goZkLock: openZkLock, ours: openTurnstile}
