package kinds

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestNamedExcludes: many goroutines of two processes and few keys; one at a time has a key, however they lock it.
func TestNamedExcludes(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		const goroutines, rounds, keys = 8, 20, 3
		inside := make([]atomic.Int32, keys)
		var all sync.WaitGroup
		for i := range 2 {
			keyed := zk.Open(t).Keyed("/named")
			for j := range goroutines {
				all.Go(func() {
					for round := range rounds {
						at := (i + j + round) % keys
						key := fmt.Sprint("key/", at)
						check := func() {
							if n := inside[at].Add(1); n != 1 {
								t.Errorf("%d have %s", n, key)
							}
							inside[at].Add(-1)
						}
						switch round % 3 {
						case 0:
							err := locks.Do(patient.Deadline(t), keyed.Mutex(key), func(context.Context, locks.Token) error {
								check()
								return nil
							})
							if err != nil {
								t.Error(err)
							}
						case 1:
							if err := keyed.ByName().Lock(patient.Deadline(t), key); err != nil {
								t.Error(err)
								return
							}
							check()
							if err := keyed.ByName().Unlock(patient.Deadline(t), key); err != nil {
								t.Error(err)
							}
						default:
							got, err := keyed.ByName().TryLock(patient.Deadline(t), key)
							if err != nil {
								t.Error(err)
							}
							if got {
								check()
								if err := keyed.ByName().Unlock(patient.Deadline(t), key); err != nil {
									t.Error(err)
								}
							}
						}
					}
				})
			}
		}
		all.Wait()
	})
}
