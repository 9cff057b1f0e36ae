package actors

import (
	"sync"
	"sync/atomic"
)

// atOnce is how many reads of one question are under way at the same time: as many as the library's queue holds.
const atOnce = 16

// inParallel calls do with 0 to n-1, several at a time, and gives the first error; after one it begins no more. A
// panic in do is the caller's.
func inParallel(n int, do func(i int) error) error {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		mu      sync.Mutex
		failed  error
		fault   any
	)
	stopped := func() bool { mu.Lock(); defer mu.Unlock(); return failed != nil || fault != nil }
	for range min(n, atOnce) {
		workers.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					mu.Lock()
					fault = r
					mu.Unlock()
				}
			}()
			for !stopped() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					mu.Lock()
					if failed == nil {
						failed = err
					}
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	if fault != nil {
		panic(fault)
	}
	return failed
}
