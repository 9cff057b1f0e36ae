package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Bounds on what the machine allocates. A step allocates the list of its effects, and what an
// action's closure lets escape. The bounds were measured, and rounded up to the next whole number:
// to tighten them, run
//
//	go test -bench 'Step' -run '^$' ./actors/machine
//
// and write down allocs/op divided by the number of events. They hold under -race, too, where the same is allocated.
const stepAllocs = 2.0 // an event

func TestStepAllocates(t *testing.T) {
	for _, l := range lives {
		each := testing.AllocsPerRun(200, func() { l.live() }) / float64(len(l.events))
		t.Logf("%s: %.2f allocations an event", l.name, each)
		require.LessOrEqual(t, each, stepAllocs, l.name)
	}
}
