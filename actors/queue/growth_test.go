package queue

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// crowd adds contenders to a lock path: the first stand at number 1, and hold.
type crowd struct {
	locks []LockPath
	age   int
}

func (c *crowd) path(mode messages.Mode, permits, holders, sequence int, who ...string) {
	l := LockPath{Permits: permits}
	for i, name := range who {
		c.age++
		if i >= holders {
			sequence++
		}
		l.Contenders = append(l.Contenders, messages.Contender{Path: fmt.Sprint("/", len(c.locks)),
			Node: fmt.Sprintf("_c_%09d-lock-%010d", c.age, sequence), Mode: mode, Weight: 1, Sequence: int32(sequence),
			Token: messages.Token(c.age), Holds: i < holders, Who: name, Host: name, PID: 1, Detects: true})
	}
	c.locks = append(c.locks, l)
}

// names gives n names: fmt.Sprint(i/same).
func names(n, same int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(i/same))
	}
	return all
}

// crowds are what somebody may write into nodes to make a search long, with n contenders each.
var crowds = map[string]func(c *crowd, n int){
	"one caller": func(c *crowd, n int) { c.path(messages.Exclusive, 0, 1, 0, names(n, n)...) },
	"one caller, one number": func(c *crowd, n int) {
		c.path(messages.Exclusive, 0, n/2, 0, names(n, n)...)
		for i := n / 2; i < n; i++ {
			c.locks[0].Contenders[i].Sequence = 1
		}
	},
	"two callers": func(c *crowd, n int) {
		c.path(messages.Exclusive, 0, 1, 0, append([]string{"other"}, names(n/2, n)...)...)
		c.path(messages.Exclusive, 0, 1, 0, append(names(n/2, n), "other")...)
		c.path(messages.Exclusive, 0, 1, 0, slices.Repeat([]string{"0", "other"}, n/4)...)
	},
	"a queue of pairs": func(c *crowd, n int) { c.path(messages.Exclusive, 0, 1, 0, names(n, 2)...) },
	"permits, each holder waits": func(c *crowd, n int) {
		c.path(messages.Semaphore, n/2, n/2, 0, append(names(n/2, 1), names(n/2, 1)...)...)
	},
	"permits, and a chain that ends": func(c *crowd, n int) {
		c.path(messages.Semaphore, n/3, n/3, 0, append(names(n/3, 1), "z", "z")...)
		for i := range n / 3 { // i waits for what i+1 holds
			c.path(messages.Exclusive, 0, 1, 0, fmt.Sprint(i+1), fmt.Sprint(i))
		}
	},
	"a chain that ends": func(c *crowd, n int) {
		for i := range n / 2 {
			c.path(messages.Exclusive, 0, 1, 0, fmt.Sprint(i+1), fmt.Sprint(i))
		}
	},
	"a circle": func(c *crowd, n int) {
		for i := range n / 2 {
			c.path(messages.Exclusive, 0, 1, 0, fmt.Sprint((i+1)%(n/2)), fmt.Sprint(i))
		}
	},
	"readers and writers in turn": func(c *crowd, n int) {
		c.path(messages.Write, 0, 1, 0, names(n, n/2)...)
		for i := range c.locks[0].Contenders[1:] {
			if i%2 == 0 {
				c.locks[0].Contenders[i+1].Mode = messages.Read
			}
		}
	},
	"circles in circles": func(c *crowd, n int) {
		for i := range n / 4 {
			c.path(messages.Semaphore, 2, 2, 0, fmt.Sprint((i+1)%(n/4)), fmt.Sprint((i+7)%(n/4)), fmt.Sprint(i), fmt.Sprint(i))
		}
	},
}

// TestSearchesGrowAsQueuesDo: in a long queue a contender takes a search for deadlocks at most twice the steps and the
// bytes that it takes in a short one, whatever others write into the nodes.
func TestSearchesGrowAsQueuesDo(t *testing.T) {
	search := map[string]func([]LockPath) int{
		"sure": func(locks []LockPath) int {
			s := newSearch()
			s.search(locks)
			return s.steps
		},
		"possible": func(locks []LockPath) int {
			s := newSearch()
			s.holders = true
			s.search(byProcess(locks))
			return s.steps
		},
	}
	for name, fill := range crowds {
		for kind, run := range search {
			t.Run(name+", "+kind, func(t *testing.T) {
				measure := func(n int) (steps int, bytes uint64) {
					var c crowd
					fill(&c, n)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					steps = run(c.locks)
					runtime.ReadMemStats(&after)
					return steps, after.TotalAlloc - before.TotalAlloc
				}
				steps, bytes := measure(600)
				for _, n := range []int{2400, 4000} {
					more, moreBytes := measure(n)
					t.Logf("600 contenders: %d steps, %d bytes; %d: %d steps, %d bytes", steps, bytes, n, more, moreBytes)
					require.LessOrEqual(t, more, 2*steps*n/600)
					require.LessOrEqual(t, moreBytes, 2*bytes*uint64(n)/600)
				}
			})
		}
	}
}
