package tests

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// witness sees what the workers do, and believes nothing of the library but tokens and node names.
type witness struct {
	mu        sync.Mutex
	holders   int
	most      int
	tokens    []messages.Token
	sequences []int32
}

func (w *witness) enter(lease *locks.Lease) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holders++
	w.most = max(w.most, w.holders)
	seq, ok := queue.Sequence(lease.Node())
	if !ok {
		return fmt.Errorf("%q is no contender's name", lease.Node())
	}
	w.tokens = append(w.tokens, lease.Token())
	w.sequences = append(w.sequences, seq)
	return nil
}

func (w *witness) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holders--
}

// 64 workers lock one path 20 times each, over 4 sessions: one holder at a time, tokens strictly
// increasing, grants in the order of the sequence numbers, and nothing left.
func TestManyWorkersOneLock(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, zk *servers) {
		const sessions, workers, rounds = 4, 64, 20
		ctx := deadline(t)
		var clients []*locks.Client
		for range sessions {
			clients = append(clients, open(t, zk.Connect()))
		}
		seen := &witness{}
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
					err = seen.enter(lease)
					runtime.Gosched() // let another one in, if it can
					valid := lease.Valid()
					seen.leave()
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
		require.Equal(t, 1, seen.most, "holders at a time")
		require.Len(t, seen.tokens, workers*rounds)
		for i := 1; i < len(seen.tokens); i++ {
			require.Greater(t, seen.tokens[i], seen.tokens[i-1], "token of grant %d", i)
			require.Greater(t, seen.sequences[i], seen.sequences[i-1], "sequence number of grant %d", i)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), "/contended"))
	})
}
