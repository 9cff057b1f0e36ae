package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Histories are checked for linearizability against a lock with fencing. Its operations are
//
//   - acquire: legal when nobody holds; it takes effect between the call of Lock and its return.
//   - release: legal for the holder. It takes effect no earlier than the last instant at which the
//     lease was certainly valid. Where Unlock was called it is no later than that has returned; where
//     the lock was lost, any time after.
//   - write: the resource accepts it when it has seen no greater token, and refuses it otherwise. It
//     takes effect between the look at the lease and the answer.
//
// Acquires are legal in the order of their tokens only. That is to be shown, and it leaves the
// checker little to try: the order of the acquires is given, and it only chooses whether a release
// or a write is before or after one. So it takes thousands of operations in a moment, where a lock
// model with any order of sixteen waiters would never end.
//
// A history is cut into windows, at grants before which all that concerns earlier grants is over: then
// what is before and what is after can be judged apart.

type opKind uint8

const (
	opAcquire opKind = iota
	opRelease
	opWrite
)

// operation is the input of the model.
type operation struct {
	kind  opKind
	rank  int // of the grant in the window, by its token, from 1
	token int64
}

// lockState is the model's state: plain data, so that == compares it.
type lockState struct {
	rank   int // of the newest grant
	held   bool
	newest int64 // the greatest token that the resource has seen
}

// fencedLock is the model. The output of a write is whether it was accepted.
var fencedLock = porcupine.Model{
	Init: func() any { return lockState{} },
	Step: func(state, input, output any) (bool, any) {
		s, op := state.(lockState), input.(operation)
		switch op.kind {
		case opAcquire:
			legal := !s.held && op.rank == s.rank+1
			s.rank, s.held = op.rank, true
			return legal, s
		case opRelease:
			legal := s.held && s.rank == op.rank
			s.held = false
			return legal, s
		}
		accepted := op.token >= s.newest
		if accepted {
			s.newest = op.token
		}
		return accepted == output.(bool), s
	},
	DescribeOperation: func(input, output any) string {
		op := input.(operation)
		name := [...]string{"acquire", "release", "write"}[op.kind]
		if op.kind == opWrite {
			return fmt.Sprintf("%s %d: %v", name, op.token, output)
		}
		return fmt.Sprintf("%s %d", name, op.token)
	},
}

// check reports whether a window is linearizable, or that it took too long to find out.
func check(window []*grant, patience time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(fencedLock, operations(window), patience)
}

// operations tells what the grants of a window did.
func operations(window []*grant) []porcupine.Operation {
	window = slices.SortedStableFunc(slices.Values(window), func(a, b *grant) int { return cmp.Compare(a.token, b.token) })
	var all []porcupine.Operation
	for i, g := range window {
		add := func(kind opKind, call, ret int64, output bool) {
			all = append(all, porcupine.Operation{ClientId: i, Input: operation{kind, i + 1, g.token},
				Call: call, Return: ret, Output: output})
		}
		add(opAcquire, g.call, g.at, true)
		add(opRelease, max(g.end, g.call), g.releasedBy(), true)
		for _, w := range g.writes {
			add(opWrite, w.call, w.at, w.ok)
		}
	}
	return all
}

// releasedBy is the time by which the lock had certainly been released. A holder that lost it, or
// was killed, never knows.
func (g *grant) releasedBy() int64 {
	if g.lost || g.unlockReturn == 0 {
		return math.MaxInt64
	}
	return g.unlockReturn
}

// over is the time at which all that concerns the grant is over, except its release, which only the
// next grant shows.
func (g *grant) over() int64 {
	latest := max(g.at, g.end)
	for _, w := range g.writes {
		latest = max(latest, w.at)
	}
	return latest
}

// earliest is the time at which others can first see the grant.
func (g *grant) earliest() int64 {
	first := g.at
	for _, w := range g.writes {
		first = min(first, w.at)
	}
	return first
}

// cut divides grants, in the order of their tokens, into windows of at least that many where it may:
// where all before is over before all after is seen.
func cut(grants []*grant, least int) (windows [][]*grant, rest []*grant) {
	seen := make([]int64, len(grants)+1) // the earliest of all from here on
	seen[len(grants)] = math.MaxInt64
	for i := len(grants) - 1; i >= 0; i-- {
		seen[i] = min(seen[i+1], grants[i].earliest())
	}
	begin, over := 0, int64(0)
	for i, g := range grants {
		over = max(over, g.over())
		if i+1-begin >= least && i+1 < len(grants) && over < seen[i+1] {
			windows = append(windows, grants[begin:i+1])
			begin = i + 1
		}
	}
	return windows, grants[begin:]
}
