package lease_test

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
)

// violation is a lease that is valid when the session's locks are given away.
type violation struct{ trace string }

func (v *violation) Error() string { return "the lease is valid beside a removed session:\n" + v.trace }

// result counts the states of an exploration.
type result struct {
	states, broken int
	valid          int // states with a valid lease
	beside         int // of these: beside a stalled stream, a deposed leader, or a session off the queue
}

func (r *result) see(w *world) {
	r.states++
	if !w.valid() {
		return
	}
	r.valid++
	fault := w.authority != first || w.trackers[w.authority].life != queued
	for s := range w.pipes {
		for way := range w.pipes[s] {
			fault = fault || w.pipes[s][way].stalled
		}
	}
	if fault {
		r.beside++
	}
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

type origin struct {
	from int32
	by   move
}

// walk explores every history of a plan, breadth first.
func walk(p plan) (r result, err error) {
	type waiting struct {
		*world
		number int32
	}
	known := map[[2]uint64]struct{}{}
	var origins []origin
	var todo []waiting
	var scratch []byte
	reach := func(w *world, by origin) {
		scratch = w.append(scratch[:0])
		print := [2]uint64{maphash.Bytes(seeds[0], scratch), maphash.Bytes(seeds[1], scratch)}
		if _, old := known[print]; old {
			return
		}
		known[print] = struct{}{}
		origins = append(origins, by)
		r.see(w)
		if w.violated() {
			err = &violation{retell(p, origins)}
		}
		if w.over() {
			r.broken++
			return
		}
		todo = append(todo, waiting{w, int32(len(origins) - 1)})
	}
	reach(newWorld(&p), origin{from: -1})
	var moves []move
	for len(todo) > 0 && err == nil {
		w := todo[0]
		todo[0] = waiting{}
		todo = todo[1:]
		moves = w.moves(moves[:0])
		for i, m := range moves {
			next := w.world
			if i < len(moves)-1 {
				next = w.clone()
			}
			next.make(m)
			if reach(next, origin{w.number, m}); err != nil {
				return r, err
			}
		}
		if r.states > p.Limit {
			return r, fmt.Errorf("more than %d states", p.Limit)
		}
	}
	return r, err
}

// retell tells the way to the newest state.
func retell(p plan, origins []origin) string {
	var way []move
	for o := origins[len(origins)-1]; o.from >= 0; o = origins[o.from] {
		way = append([]move{o.by}, way...)
	}
	return tell(p, way)
}

func tell(p plan, way []move) string {
	var b strings.Builder
	w := newWorld(&p)
	for _, m := range way {
		if w.make(m); m.kind != passes || w.violated() {
			fmt.Fprintln(&b, w)
		}
	}
	return b.String()
}

// play plays one history of a plan at random. Time passes often; a move that need not happen has a weight.
func play(p plan, seed uint64) (r result, err error) {
	dice := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(&p)
	var moves, way []move
	calm := 1 + dice.IntN(12)
	for !w.over() {
		moves = w.moves(moves[:0])
		m := moves[dice.IntN(len(moves))]
		if moves[0].kind != passes { // pings that are due, and the tracker's work, come first
			for _, o := range moves {
				if o.kind == passes && dice.IntN(calm+1) > 0 {
					m = o
				}
			}
		} else if dice.IntN(calm+1) > 0 {
			m = moves[0]
		}
		w.make(m)
		way = append(way, m)
		r.see(w)
		if w.violated() {
			return r, &violation{fmt.Sprintf("seed %d\n%s", seed, tell(p, way))}
		}
	}
	r.broken++
	return r, nil
}
