package interop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// Curator's Revoker asks Turnstile, which is told, and holds until it gives the lock back itself.
func TestCuratorAsksTurnstile(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := Job{Name: "curator", Recipe: Mutex, Connect: s.addr, Path: "/asked/told", Witness: witness.Addr()}
		client := openTurnstile(t, s.addr)
		lease, err := client.Mutex(job.Path, locks.WithLabel("the holder")).Lock(deadline(t))
		require.NoError(t, err)
		require.NoError(t, witness.EnterWith(lease.Node(), "turnstile", job.Path, Exclusive()))
		waiting := start(t, curator.Get(t), job)
		s.awaitCount(t, job.Path, 2)

		asking := job
		asking.Task = Asking
		_, err = curator.Get(t).Run(deadline(t), asking)
		require.NoError(t, err)
		patient.Receive(t, lease.Revoked())
		require.True(t, lease.Valid(), "asking takes nothing away")
		seen := func() bool { // Curator's request overwrites the node, and the holder writes it again
			queue, err := client.Queue(deadline(t), job.Path)
			return err == nil && len(queue) == 2 && queue[0].Asked && queue[0].Label == "the holder"
		}
		for end := time.Now().Add(bound); !seen(); time.Sleep(10 * time.Millisecond) {
			require.True(t, time.Now().Before(end), "it is not seen who holds")
		}

		require.NoError(t, witness.Leave("turnstile", job.Path))
		patient.GiveBack(t, lease)
		waiting.wait(t)
		s.requireEmpty(t, job.Path)
	})
}

// A holder that set a grace period loses the lock to Curator when it is over.
func TestCuratorAsksTurnstileWithGrace(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		job := Job{Name: "curator", Recipe: Mutex, Connect: s.addr, Path: "/asked/grace"}
		client := openTurnstile(t, s.addr)
		lease, err := client.Mutex(job.Path, locks.WithGrace(time.Millisecond)).Lock(deadline(t))
		require.NoError(t, err)
		waiting := start(t, curator.Get(t), job)
		s.awaitCount(t, job.Path, 2)

		asking := job
		asking.Task = Asking
		_, err = curator.Get(t).Run(deadline(t), asking)
		require.NoError(t, err)
		patient.Receive(t, lease.Context().Done())
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
		waiting.wait(t)
		s.requireEmpty(t, job.Path)
	})
}

// A holder of Curator's that made itself revocable hears of it, and gives the lock to Turnstile.
func TestTurnstileAsksCurator(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := Job{
			Name: "curator", Task: Revocable, Recipe: Mutex, Connect: s.addr, Path: "/asked/curator",
			Witness: witness.Addr(),
		}
		inside, release := witness.Detain(job.Holder(1, 1))
		defer release()
		holding := start(t, curator.Get(t), job)
		patient.Receive(t, inside)
		release()

		job.Name = "turnstile"
		waiting := startHere(t, turnstile, witness.Witness, job)
		s.awaitCount(t, job.Path, 2)
		client := openTurnstile(t, s.addr)
		asked, err := client.Revoke(deadline(t), job.Path)
		require.NoError(t, err)
		require.Len(t, asked, 1, "the holder alone")
		require.Equal(t, witness.Entries()[0].Node, asked[0].At())
		require.Equal(t, messages.LibraryCurator, asked[0].Library)
		holding.wait(t)
		waiting.wait(t)
		require.Len(t, witness.Entries(), 2)
		s.requireEmpty(t, job.Path)
		_, err = client.Revoke(deadline(t), job.Path)
		require.ErrorIs(t, err, locks.ErrNotHolding)
	})
}
