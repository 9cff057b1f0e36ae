package leases

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// seen are the operations of requests that a server was asked for, pings aside.
type seen struct {
	mu  sync.Mutex
	all []int32
}

func (s *seen) note(r embedded.Request) embedded.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Op != embedded.OpPing {
		s.all = append(s.all, int32(r.Op))
	}
	return embedded.Pass
}

func (s *seen) take() []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// TestLockAfterAPauseTakesOneRoundTrip: an idle client keeps the evidence for its next grant. The lock takes one
// transaction, and so does giving it back, also after a minute of nothing.
func TestLockAfterAPauseTakesOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests seen
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithReplicas(3),
			embedded.WithReapInterval(24*time.Hour), embedded.WithHook(requests.note))
		mutex := bubble.OpenClient(t, server, server.Replica(2).Addr()).Mutex("/idle")
		lease, err := mutex.Lock(t.Context()) // finds out about the lock path
		require.NoError(t, err)
		bubble.GiveBack(t, lease)
		synctest.Wait() // the holder's heartbeat may come behind the delete
		requests.take()
		// It creates and reads the queue behind that, it deletes, and the holder's heartbeat may come, and a look at its node.
		const first, most = embedded.OpCreate, 5

		for _, pause := range []time.Duration{time.Minute, 61 * time.Second, 63 * time.Second, 10 * time.Minute} {
			time.Sleep(pause)
			idle := requests.take()
			idle = slices.DeleteFunc(idle, func(op int32) bool { return op == int32(embedded.OpSync) })
			require.Subset(t, []int32{int32(embedded.OpRemoveWatches)}, idle, "once, of the lock path")
			require.LessOrEqual(t, len(idle), 1)
			lease := bubble.Locked(t, mutex.Lock)
			require.True(t, lease.Valid())
			bubble.GiveBack(t, lease)
			synctest.Wait()
			all := requests.take()
			require.LessOrEqual(t, len(all), most, "%v", all)
			require.Equal(t, int32(first), all[0])
		}
	})
}
