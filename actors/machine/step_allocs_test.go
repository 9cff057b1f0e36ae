package machine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// What the machine may allocate. A step allocates the list of its effects, and what an action's closure lets escape.
// These are what was measured, rounded up to the next whole number: to tighten them, run
//
//	go test -bench 'Step|ReadQueue' -run '^$' ./actors/machine
//
// and write down allocs/op divided by the number of events. They hold under -race, too, where the same is allocated.
const (
	stepAllocs = 2.0 // an event
	// findAllocs is what finding one's place among a thousand allocates: slices that grow, and nothing for each child.
	findAllocs = 16.0
)

func queueOf(length int) (children []string) {
	for n := range length {
		children = append(children, fmt.Sprintf("_c_0b2f5a54-52a1-4c2f-9f0e-%012d-lock-%010d", n, n))
	}
	return children
}

func sizeName(length int) string { return fmt.Sprintf("%d waiters", length) }

func TestStepAllocates(t *testing.T) {
	for _, l := range lives {
		each := testing.AllocsPerRun(200, func() { l.live() }) / float64(len(l.events))
		t.Logf("%s: %.2f allocations an event", l.name, each)
		require.LessOrEqual(t, each, stepAllocs, l.name)
	}
}

func TestReadQueueAllocates(t *testing.T) {
	children := queueOf(1000)
	each := testing.AllocsPerRun(50, func() {
		machine.ReadQueue(1, children, machine.View{Own: children[len(children)-1]})
	})
	t.Logf("%.0f allocations among %d", each, len(children))
	require.LessOrEqual(t, each, findAllocs)
}
