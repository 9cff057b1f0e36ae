package kinds

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// 64 workers lock one path 20 times each, over 4 sessions: one holder at a time, tokens strictly
// increasing, grants in the order of the sequence numbers, and nothing left.
func TestManyWorkersOneLock(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		const sessions, workers, rounds = 4, 64, 20
		ctx := patient.Deadline(t)
		var clients []*locks.Client
		for range sessions {
			clients = append(clients, zk.Open(t))
		}
		seen := &patient.Witness{}
		failures := make(chan error, workers)
		var all sync.WaitGroup
		for n := range workers {
			all.Go(func() {
				mutex := clients[n%sessions].Mutex("/contended")
				for range rounds {
					lease, err := mutex.Lock(ctx)
					if err != nil {
						failures <- err
						return
					}
					err = seen.Enter(lease)
					runtime.Gosched() // let another one in, if it can
					valid := lease.Valid()
					seen.Leave()
					if err == nil {
						err = lease.Unlock(ctx)
					}
					if err == nil && !valid {
						err = fmt.Errorf("lease %v was not valid while it was held", lease.Token())
					}
					if err != nil {
						failures <- err
						return
					}
				}
			})
		}
		all.Wait()
		close(failures)
		for err := range failures {
			t.Error(err)
		}
		require.Equal(t, 1, seen.Most, "holders at a time")
		require.Len(t, seen.Tokens, workers*rounds)
		for i := 1; i < len(seen.Tokens); i++ {
			require.Greater(t, seen.Tokens[i], seen.Tokens[i-1], "token of grant %d", i)
			require.Greater(t, seen.Sequences[i], seen.Sequences[i-1], "sequence number of grant %d", i)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), "/contended"))
	})
}
