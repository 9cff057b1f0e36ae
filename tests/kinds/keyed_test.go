package kinds

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestKeyedWeighsLittle: what a key adds to the transaction that ends its session is bounded, however long the key is. So
// as many as the doc says can be held at once, and the next one is refused before it is sent.
func TestKeyedWeighsLittle(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		const bound = 20_000 // 512 KiB without it
		client := patient.Open(t, zk.Hosts(), locks.WithMaxNodeBytes(bound))
		const root = "/a-root-of-20-bytes/"
		keyed := client.Keyed(strings.TrimSuffix(root, "/"))
		held := 0
		for {
			lease, err := keyed.TryLock(patient.Deadline(t), fmt.Sprintf("%d%s", held, strings.Repeat("/", 10_000)))
			if err != nil {
				require.ErrorIs(t, err, locks.ErrSessionFull)
				break
			}
			defer lease.Release()
			require.LessOrEqual(t, len(lease.Path()), len(root)+128)
			held++
		}
		require.Greater(t, held*(512<<10)/bound, 2400)
		t.Logf("%d keys of 10 kB in %d bytes, %d in 512 KiB", held, bound, held*(512<<10)/bound)
	})
}

// TestOnLostOfOtherLocks: they tell their paths.
func TestOnLostOfOtherLocks(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		told := make(chan string, 10)
		client := zk.Open(t)
		mutex := client.Mutex("/told", locks.WithMaxHold(time.Millisecond), locks.WithOnLost(func(key string, err error) {
			told <- fmt.Sprint(key, " ", errors.Is(err, locks.ErrMaxHold))
		}))
		lease := patient.Locked(t, mutex.Lock)
		<-lease.Context().Done()
		require.Equal(t, "/told true", <-told)
		patient.Cycle(t, client.Mutex("/told"))
		require.Empty(t, told)
	})
}
