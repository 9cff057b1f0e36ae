package queue_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// findAllocs bounds the allocations of finding one place among a thousand: a few slices, and
// nothing for each child. It was measured, and has some room. It holds under -race, too, where the
// same is allocated.
const findAllocs = 16.0

func queueOf(length int) (children []string) {
	for n := range length {
		children = append(children, fmt.Sprintf("_c_0b2f5a54-52a1-4c2f-9f0e-%012d-lock-%010d", n, n))
	}
	return children
}

func TestFindAllocates(t *testing.T) {
	children := queueOf(1000)
	each := testing.AllocsPerRun(50, func() { queue.Find(children, children[len(children)-1], 0) })
	t.Logf("%.0f allocations among %d", each, len(children))
	require.LessOrEqual(t, each, findAllocs)
}

// BenchmarkFind measures how long it takes to find a contender in a listing, by the length of the queue.
func BenchmarkFind(b *testing.B) {
	for _, length := range []int{16, 1000} {
		children := queueOf(length)
		b.Run(fmt.Sprintf("%d waiters", length), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, shown := queue.Find(children, children[length-1], 0); !shown {
					b.Fatal("it is not in the queue")
				}
			}
		})
	}
}
