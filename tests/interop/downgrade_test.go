package interop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// A writer of Turnstile's becomes a reader while writers of other clients wait, none of whom gets in
// between. The reader's node stands at the writer's own place, which the others must see, too.
func TestTurnstileDowngradesBesideOthersWriters(t *testing.T) {
	for _, other := range []struct {
		member
		naming messages.Naming
	}{{java, messages.CuratorNaming}, {renamed, messages.CuratorNaming}, {python, messages.KazooNaming}} {
		t.Run(other.name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, s *server) {
				const holder = "turnstile"
				witness := StartWitness(t)
				job := other.job(s, witness, Write, "/downgrade")
				job.Patience = time.Second // long enough for all that follows, after which it gives up
				mutex := scene.Open(t, s.Connect()).RWMutex(job.Path, locks.WithNaming(other.naming))
				writer := scene.Locked(t, mutex.Lock)
				require.NoError(t, witness.EnterWith(writer.Node(), holder, job.Path, exclusive))
				waiting := other.start(t, witness, job)
				s.awaitCount(t, job.Path, 2)

				require.NoError(t, witness.Change(holder, job.Path, shared))
				reader, err := writer.Downgrade(scene.Deadline(t))
				require.NoError(t, err)
				s.awaitCreates(t, job.Path, 4) // the other writer has queued in vain, and again

				require.NoError(t, witness.Leave(holder, job.Path))
				scene.GiveBack(t, reader)
				require.NoError(t, scene.Receive(t, waiting))
				s.requireEmpty(t, job.Path)
			})
		})
	}
}

// Curator does the same while a writer of Turnstile's waits.
func TestCuratorDowngradesBesideTurnstilesWriter(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := java.job(s, witness, Write, "/downgrade")
		job.Task, job.Hold = Downgrading, 200*time.Millisecond
		release := java.detained(t, witness, job)
		waiting := ours.start(t, witness, ours.job(s, witness, Write, job.Path))
		s.awaitCount(t, job.Path, 2)
		release()
		require.NoError(t, scene.Receive(t, waiting))
		require.Len(t, witness.Entries(), 2)
		s.requireEmpty(t, job.Path)
	})
}
