package interop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// A writer of Turnstile's becomes a reader while writers of other clients wait, none of whom gets in
// between. The reader's node stands at the writer's own place, which the others must see, too.
func TestTurnstileDowngradesBesideOthersWriters(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, one := range []struct {
			name   string
			worker *sharedWorker
			names  string
			naming messages.Naming
		}{
			{"curator", curator, "", messages.CuratorNaming},
			{"kazoo-curator-names", kazooed, CuratorNames, messages.CuratorNaming},
			{"kazoo", kazooed, "", messages.KazooNaming},
		} {
			t.Run(one.name, func(t *testing.T) {
				job := Job{
					Name: one.name, Recipe: Write, Names: one.names, Connect: s.addr, Path: "/downgrade/" + one.name,
					Patience: time.Second, // long enough for all that follows, after which it gives up
				}
				downgradeBeside(t, s, one.worker.Get(t), job, one.naming)
			})
		}
	})
}

func downgradeBeside(t *testing.T, s *server, worker *Worker, job Job, naming messages.Naming) {
	t.Helper()
	witness := StartWitness(t)
	job.Witness = witness.Addr()
	ctx, holder := deadline(t), "turnstile"
	mutex := openTurnstile(t, s.addr).RWMutex(job.Path, locks.WithNaming(naming))
	writer := patient.Locked(t, mutex.Lock)
	require.NoError(t, witness.EnterWith(writer.Node(), holder, job.Path, Exclusive()))
	waiting := start(t, worker, job)
	s.awaitCount(t, job.Path, 2)

	require.NoError(t, witness.Change(holder, job.Path, Shared()))
	reader, err := writer.Downgrade(ctx)
	require.NoError(t, err)
	s.awaitCreates(t, job.Path, 4) // the other writer has queued in vain, and again

	require.NoError(t, witness.Leave(holder, job.Path))
	patient.GiveBack(t, reader)
	waiting.wait(t)
	s.requireEmpty(t, job.Path)
}
