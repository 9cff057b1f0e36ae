package inspect

import (
	"cmp"
	"sync"
)

// atOnce is how many reads of one query are under way at the same time: as many as the library's
// queue holds.
const atOnce = 16

// inParallel calls do with 0 to n-1, several at a time, and gives the first error. After an error
// it begins no more. A panic in do becomes the caller's.
func inParallel(n int, do func(i int) error) error {
	var (
		workers sync.WaitGroup
		mu      sync.Mutex
		next    int
		failed  error
		fault   any
	)
	take := func() (i int, more bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && failed == nil && fault == nil
	}
	fail := func(err error, panicked any) {
		mu.Lock()
		defer mu.Unlock()
		failed, fault = cmp.Or(failed, err), cmp.Or(fault, panicked)
	}
	for range min(n, atOnce) {
		workers.Go(func() {
			defer func() { fail(nil, recover()) }()
			for i, more := take(); more; i, more = take() {
				if err := do(i); err != nil {
					fail(err, nil)
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
