package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestReadersBehindAWriterWakeTogether: a thousand readers in several sessions wait for one writer. Its release is
// one watch event for each session, and wakes each reader once. (On the ensemble they are two hundred.)
func TestReadersBehindAWriterWakeTogether(t *testing.T) {
	const sessions = 4
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		readers := 1000
		if len(zk.Members) > 1 {
			readers = 200
		}
		w := patient.Locked(t, zk.Open(t).RWMutex("/crowd").Lock)
		seen := newTally()
		var clients []*locks.Client
		var wires []*wireEvents
		var waiting []<-chan patient.Answer
		for range sessions {
			client, events := openCounted(t, zk)
			clients, wires = append(clients, client), append(wires, events)
			rw := client.RWMutex("/crowd", seen.of(t, client))
			for range readers / sessions {
				waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), rw.RLock))
			}
		}
		seen.await(t, messages.StateWatching, readers)
		countAll(t, zk, clients, wires, "/crowd")
		patient.GiveBack(t, w)
		var leases []*locks.Lease
		for _, reader := range waiting {
			got := patient.Receive(t, reader)
			require.NoError(t, got.Err)
			leases = append(leases, got.Lease)
		}
		for i, client := range clients {
			patient.CatchUp(t, client)
			require.Equal(t, 1, wires[i].below(zk.Root()+"/crowd"), "watch events of one session")
		}
		seen.await(t, messages.StateHeld, readers) // the observer may be behind the callers
		require.Equal(t, readers, seen.wakes(), "each is woken once")
		for _, lease := range leases {
			require.True(t, lease.Valid(), "all hold together")
			require.Greater(t, lease.Token(), w.Token())
		}
		for _, client := range clients {
			require.Zero(t, client.Session().Counters().Polls)
			require.NoError(t, client.Close(patient.Deadline(t)))
		}
	})
}
