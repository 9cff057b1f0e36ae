package queues

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestQueueIsNotOlderThanTheCall: what was granted through one member is seen through any other.
func TestQueueIsNotOlderThanTheCall(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		locker, looker := patient.Open(t, at.Members[0].Addr()+at.Root()),
			patient.Open(t, at.Members[len(at.Members)-1].Addr()+at.Root())
		for range 50 {
			lease := patient.Locked(t, locker.Mutex("/fresh").Lock)
			all := patient.QueueOf(t, looker, "/fresh")
			require.Len(t, all, 1)
			require.Equal(t, lease.Token(), all[0].Token)
			patient.GiveBack(t, lease)
			require.Empty(t, patient.QueueOf(t, looker, "/fresh"))
		}
	})
}
