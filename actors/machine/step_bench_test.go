package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// life has the events of one request, from its beginning to its end. Each event answers the newest
// operation.
type life struct {
	name   string
	events []machine.Event
	ends   messages.State
}

const (
	mine   = "_c_0b2f5a54-52a1-4c2f-9f0e-6d3c1f0f4b51-lock-0000000001"
	before = "_c_9b6e1d8c-1c2b-4f6a-8f7e-0a9d3b1c2d3e-lock-0000000000"
)

// lives has the lives of a request without competitors, of one that waits for another of its
// session, and of one that waits for another session's.
var lives = []life{
	{"first", []machine.Event{
		{Kind: machine.Begin},
		{Kind: machine.Created, Op: 1, Node: mine, Token: 7168, First: true, Lease: true},
		{Kind: machine.OwnRead, Op: 2, Lease: true},
		{Kind: machine.Release, Lease: true},
		{Kind: machine.Deleted, Op: 3, Lease: true},
	}, messages.StateReleased},
	{"behind one of ours", []machine.Event{
		{Kind: machine.Begin},
		{Kind: machine.Created, Op: 1, Node: mine, Token: 7168, Predecessor: before, Lease: true},
		{Kind: machine.Watched, Op: 2, Lease: true},
		{Kind: machine.TurnCame, Op: 2, Lease: true},
		{Kind: machine.OwnRead, Op: 3, Lease: true},
		{Kind: machine.Release, Lease: true},
		{Kind: machine.Deleted, Op: 4, Lease: true},
	}, messages.StateReleased},
	{"behind another session", []machine.Event{
		{Kind: machine.Begin},
		{Kind: machine.Created, Op: 1, Node: mine, Token: 7168, Lease: true},
		{Kind: machine.Listed, Op: 2, Predecessor: before, Lease: true},
		{Kind: machine.Watched, Op: 3, Lease: true},
		{Kind: machine.TurnCame, Op: 3, Lease: true},
		{Kind: machine.OwnRead, Op: 4, Lease: true},
		{Kind: machine.Release, Lease: true},
		{Kind: machine.Deleted, Op: 5, Lease: true},
	}, messages.StateReleased},
}

// live gives a machine all events, and tells where that led.
func (l life) live() (at messages.State, effects int) {
	m := machine.New(&messages.Acquire{})
	for _, ev := range l.events {
		more, _ := m.Step(ev)
		effects += len(more.All())
	}
	return m.State, effects
}

// BenchmarkStep measures the machine's cost for each life of a request: the whole, and for each
// event.
func BenchmarkStep(b *testing.B) {
	for _, l := range lives {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if at, _ := l.live(); at != l.ends {
					b.Fatalf("it ends %v", at)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(l.events)), "ns/event")
		})
	}
}

// A request can have every life of the benchmark.
func TestLivesEnd(t *testing.T) {
	for _, l := range lives {
		at, effects := l.live()
		require.Equal(t, l.ends, at, l.name)
		require.Greater(t, effects, len(l.events), l.name)
	}
}
