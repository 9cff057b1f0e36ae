package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// chaos breaks things, by a schedule that is drawn from a seed.
type chaos struct {
	o        options
	ensemble *rig.Partitionable
	subjects []*subject
	judge    *judge
	// inspector is the operator's connection.
	inspector *inspector
	say       func(format string, args ...any)

	mu    sync.Mutex
	count map[string]int
}

// fault is a kind of fault. do breaks something, waits, and repairs it, also when ctx has ended.
type fault struct {
	name string
	do   func(ctx context.Context, rng *rand.Rand) error
}

// track is a sequence of faults of which only one is at work at a time.
type track struct {
	faults []fault
	rng    *rand.Rand
	deck   []int
	rounds int // how often every fault of the deck has been
}

// chosen keeps the faults that -faults names.
func chosen(all []fault, names string) []fault {
	var kept []fault
	for _, f := range all {
		for name := range strings.SplitSeq(names, ",") {
			if name == "all" || strings.TrimSpace(name) == f.name {
				kept = append(kept, f)
			}
		}
	}
	return kept
}

// checkFaults refuses a name that no fault has.
func checkFaults(names string) error {
	if names == "all" || names == "none" {
		return nil
	}
	all := slices.Concat((&chaos{}).all()...)
	var known []string
	for _, f := range all {
		known = append(known, f.name)
	}
	for name := range strings.SplitSeq(names, ",") {
		if len(chosen(all, name)) == 0 {
			return fmt.Errorf("soak: -faults %s: %q is none of %s", names, name, strings.Join(known, ","))
		}
	}
	return nil
}

// draw gives the next fault: each once, in an order of its own, before any comes again.
func (t *track) draw() fault {
	if len(t.deck) == 0 {
		t.deck = t.rng.Perm(len(t.faults))
	}
	next := t.deck[0]
	t.deck = t.deck[1:]
	return t.faults[next]
}

// run breaks one thing after the other until ctx ends.
func (c *chaos) run(ctx context.Context, t *track) {
	if len(t.faults) == 0 {
		return
	}
	for rig.Rest(ctx, c.o.every/2+upTo(t.rng, c.o.every)) {
		f := t.draw()
		c.mu.Lock()
		c.count[f.name]++
		c.mu.Unlock()
		if err := f.do(ctx, t.rng); err != nil {
			c.say("%s: %v", f.name, err)
		}
		if len(t.deck) == 0 {
			c.mu.Lock()
			t.rounds++
			c.mu.Unlock()
		}
	}
}

// completed reports whether every kind of fault has been.
func (c *chaos) completed(tracks []*track) bool {
	return !slices.ContainsFunc(tracks, func(t *track) bool { return !c.complete(t) })
}

// complete reports whether every kind of fault of the track has been.
func (c *chaos) complete(t *track) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(t.faults) == 0 || t.rounds > 0
}

func (c *chaos) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for name, n := range c.count {
		all[name] = n
	}
	return all
}

// add counts what a fault has come to, beside the faults.
func (c *chaos) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what] += n
}

// upTo draws a duration from 0 to d.
func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d) + 1))
}

// sessions draws a duration between two multiples of the session timeout.
func (c *chaos) sessions(rng *rand.Rand, from, to float64) time.Duration {
	return time.Duration((from + rng.Float64()*(to-from)) * float64(c.o.session))
}
