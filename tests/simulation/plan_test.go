package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
)

// plan is everything that a seed decides. It does not depend on the history when it is carried out:
// an action says "the second of the holders", and does nothing where nobody holds. So actions can
// be left out of a plan that fails to find out which of them matter.
type plan struct {
	seed     uint64
	timeouts []time.Duration // of the clients' sessions
	early    bool            // by mistake, the server ends sessions whose leases run: see mistakes_test.go
	replicas int
	paths    int

	tick      time.Duration // of the servers: sessions expire at ticks
	syncLimit int           // for how many ticks servers may not hear of each other
	requests  int           // that may be under way at once
	inside    bool          // the calls of a client share what they can: they ask for the same, and nobody observes them
	uses      []use         // what each lock path is used for
	without   []string      // the fast paths that each client does without, between commas
	actions   []action
}

// action is one thing that the driver does. Its kind says what a, b and c mean.
type action struct {
	kind    int // an index of kinds
	a, b, c uint32
}

// pick chooses one of n by a number of the plan's.
func pick(by uint32, n int) int { return int(by % uint32(n)) }

// newPlan makes the plan of a seed. Every seed has its own mixture: some faults it does not know at all, so
// that others get to happen one after the other (swarm testing).
func newPlan(seed uint64) plan {
	rng := rand.New(rand.NewPCG(seed, 0x7475726e7374696c))
	p := plan{seed: seed, replicas: 1 + 2*rng.IntN(2), paths: 1 + rng.IntN(3), requests: 2 + rng.IntN(7)}
	for range 1 + rng.IntN(3) {
		p.timeouts = append(p.timeouts, time.Duration(4+rng.IntN(17))*time.Second)
	}
	if p.replicas > 1 && len(p.timeouts) == 1 { // somebody at another replica
		p.timeouts = append(p.timeouts, p.timeouts[0])
	}
	if p.inside = seed%3 == 1; p.inside { // the more wait, the more share
		p.requests += 4
	}
	p.uses = newUses(seed, p.paths, p.inside)
	p.tick, p.syncLimit = pace(seed)
	p.without = lacking(seed, len(p.timeouts))
	weights := make([]int, len(kinds))
	total := 0
	for i, k := range kinds {
		if !k.fault || rng.IntN(2) == 0 {
			weights[i] = k.weight
		}
		total += weights[i]
	}
	for range 40 + rng.IntN(31) {
		kind, n := 0, rng.IntN(total)
		for ; n >= weights[kind]; kind++ {
			n -= weights[kind]
		}
		p.actions = append(p.actions, action{kind, rng.Uint32(), rng.Uint32(), rng.Uint32()})
	}
	return p
}

// pace draws the servers' tick, at most half of the shortest timeout, and their sync limit, from numbers of their own.
func pace(seed uint64) (tick time.Duration, syncLimit int) {
	rng := rand.New(rand.NewPCG(seed, 0x7469636b))
	return []time.Duration{200, 200, 500, 500, 1000, 2000}[rng.IntN(6)] * time.Millisecond, 2 << rng.IntN(6)
}

// lacking draws the fast paths that clients do without, from numbers of its own: every other client has all of them.
func lacking(seed uint64, clients int) []string {
	rng := rand.New(rand.NewPCG(seed, 0x66617374))
	all, paths := make([]string, clients), actors.FastPaths()
	for i := range all {
		if rng.IntN(2) == 0 {
			off := rng.IntN(1 << len(paths))
			for at, path := range paths {
				if off&(1<<at) != 0 {
					all[i] += path + ","
				}
			}
		}
	}
	return all
}

// only is the plan with some of its actions, by their places.
func (p plan) only(places []int) plan {
	all := p.actions
	p.actions = nil
	for _, i := range places {
		if i < len(all) {
			p.actions = append(p.actions, all[i])
		}
	}
	return p
}

// String is the plan in a few lines.
func (p plan) String() string {
	names := make([]string, len(p.actions))
	for i, a := range p.actions {
		names[i] = kinds[a.kind].name
	}
	return fmt.Sprintf("seed %d: session timeouts %v, %d replicas, tick %v, sync limit %d, lock paths for %v, %d requests at once, %d actions: %s",
		p.seed, p.timeouts, p.replicas, p.tick, p.syncLimit, p.uses, p.requests, len(p.actions), strings.Join(names, ", "))
}
