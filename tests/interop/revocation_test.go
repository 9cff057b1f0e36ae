package interop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Curator's Revoker asks Turnstile, which is told, and holds until it gives the lock back itself.
func TestCuratorAsksTurnstile(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := java.job(s, witness, Mutex, "/asked")
		client := scene.Open(t, s.Connect())
		lease := scene.Locked(t, client.Mutex(job.Path, locks.WithLabel("the holder")).Lock)
		require.NoError(t, witness.EnterWith(lease.Node(), "turnstile", job.Path, exclusive))
		waiting := java.start(t, witness, job)
		s.awaitCount(t, job.Path, 2)

		asking := job
		asking.Task = Asking
		_, err := curator(t).Run(scene.Deadline(t), asking)
		require.NoError(t, err)
		scene.Receive(t, lease.Revoked())
		require.True(t, lease.Valid(), "asking takes nothing away")
		scene.Eventually(t, func() bool { // Curator's request overwrites the node, and the holder writes it again
			queue := scene.QueueOf(t, client, job.Path)
			return len(queue) == 2 && queue[0].Asked && queue[0].Label == "the holder"
		}, "it is not seen who holds")

		require.NoError(t, witness.Leave("turnstile", job.Path))
		scene.GiveBack(t, lease)
		require.NoError(t, scene.Receive(t, waiting))
		s.requireEmpty(t, job.Path)
	})
}

// A holder of Curator's that made itself revocable hears of it, and gives the lock to Turnstile.
func TestTurnstileAsksCurator(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := java.job(s, witness, Mutex, "/asked")
		job.Task = Revocable
		inside, release := witness.Detain(job.Holder(1, 1))
		defer release()
		holding := java.start(t, witness, job)
		scene.Receive(t, inside)
		release()

		waiting := ours.start(t, witness, ours.job(s, witness, Mutex, job.Path))
		s.awaitCount(t, job.Path, 2)
		client := scene.Open(t, s.Connect())
		asked, err := client.Revoke(scene.Deadline(t), job.Path)
		require.NoError(t, err)
		require.Len(t, asked, 1, "the holder alone")
		require.Equal(t, messages.LibraryCurator, asked[0].Library)
		require.Contains(t, witness.Entries()[0].Node, asked[0].Node)
		require.NoError(t, scene.Receive(t, holding))
		require.NoError(t, scene.Receive(t, waiting))
		require.Len(t, witness.Entries(), 2)
		s.requireEmpty(t, job.Path)
		_, err = client.Revoke(scene.Deadline(t), job.Path)
		require.ErrorIs(t, err, locks.ErrNotHolding)
	})
}
