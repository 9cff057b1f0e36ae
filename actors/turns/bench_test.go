package turns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// heldAndKept is a client with a kept hold.
func heldAndKept(t testing.TB, want *Want) (*Turns, Moment) {
	w := newWorld(&plan{})
	m := Moment{At: w.at, Lease: w}
	turns := w.turns
	c := turns.Call(m, want, 0)
	h := turns.Take()[0].Hold
	turns.Held(m, h, &messages.Held{Grant: messages.Grant{Token: 1 << 10}, Places: messages.MaxPlace << 40, Epoch: 1, Term: 1}, timeout)
	turns.Hear(m, h, &messages.Watched{Readable: true})
	turns.GiveBack(m, c)
	turns.Take()
	require.Equal(t, 1, turns.kept)
	return turns, m
}

// BenchmarkKept is a cycle of Call and GiveBack on a kept hold.
func BenchmarkKept(b *testing.B) {
	turns, m := heldAndKept(b, words{"sticky=1h"}.want())
	want := words{"sticky=1h"}.want() // not the one of the line: it is compared
	b.ReportAllocs()
	for b.Loop() {
		turns.GiveBack(m, turns.Call(m, want, 0))
		turns.Take()
	}
}

// BenchmarkLine is a hand-off with 128 calls in line, in cohorts of 1000.
func BenchmarkLine(b *testing.B) {
	want := words{"sticky=1h", "cohort=1000"}.want()
	turns, m := heldAndKept(b, want)
	line := make([]CallID, 128)
	for i := range line {
		line[i] = turns.Call(m, want, 0)
	}
	turns.Take()
	b.ReportAllocs()
	for i := 0; b.Loop(); i = (i + 1) % len(line) {
		turns.GiveBack(m, line[i])
		line[i] = turns.Call(m, want, 0)
		turns.Take()
	}
}

// BenchmarkDefault is a hand-off with 128 calls in line, each with a hold of its own, and all that
// is heard of that.
func BenchmarkDefault(b *testing.B) {
	w := newWorld(&plan{})
	turns, m, want := w.turns, Moment{At: w.at, Lease: w}, words{}.want()
	type waiter struct {
		call CallID
		hold HoldID
	}
	zxid := messages.Token(0)
	call := func() (made waiter) {
		made.call = turns.Call(m, want, 0)
		for _, o := range turns.Take() {
			if o.Do == Ask {
				made.hold = o.Hold
			}
		}
		return made
	}
	hold := func(h HoldID) {
		zxid++
		turns.Held(m, h, &messages.Held{Grant: messages.Grant{Token: zxid << 10}, Epoch: 1, Term: 1}, timeout)
	}
	line := make([]waiter, 128)
	for i := range line {
		line[i] = call()
	}
	hold(line[0].hold)
	b.ReportAllocs()
	for i := 0; b.Loop(); i = (i + 1) % len(line) {
		turns.GiveBack(m, line[i].call)
		turns.Ended(m, line[i].hold, messages.ReasonReleased, "")
		line[i] = call()
		next := line[(i+1)%len(line)].hold
		hold(next)
		turns.Hear(m, next, &messages.Watched{Readable: true})
		turns.Take()
	}
}

// TestNothingIsAllocated: a cycle on a kept hold, and a hand-off, allocate nothing.
func TestNothingIsAllocated(t *testing.T) {
	want := words{"sticky=1h", "cohort=9"}.want()
	turns, m := heldAndKept(t, want)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		a := turns.Call(m, want, 0)
		b := turns.Call(m, want, 0)
		turns.GiveBack(m, a)
		turns.GiveBack(m, b)
		turns.Take()
	}))
}
