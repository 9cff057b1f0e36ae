package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestApart: clients that do not keep each other out. One holds, and the next is inside nonetheless, as the witness must
// then say.
func TestApart(t *testing.T) {
	for _, pair := range []struct {
		name   string
		first  member
		recipe Recipe
		next   member
		other  Recipe
	}{
		// kazoo's Lock as it comes looks only at nodes of its own name; and Curator's write lock only at those of its read and
		// write locks.
		{"kazoo on turnstile", ours, Mutex, python, Mutex},
		{"kazoo on go-zookeeper", goLock, Mutex, python, Mutex},
		{"curator's writer on turnstile", ours, Mutex, java, Write},
		{"curator's writer on go-zookeeper", goLock, Mutex, java, Write},
		// Between Curator's mutex and kazoo's own names one walks in on the other, in either order.
		{"kazoo on curator", java, Mutex, python, Mutex},
		{"curator on kazoo", python, Mutex, java, Mutex},
		{"curator on kazoo with patterns", patterned, Mutex, java, Mutex},
		// Semaphores do not even look at the same nodes. kazoo counts the children of the path and then adds
		// one of its own, under a lock at <path>-__lock__. Curator adds one to <path>/leases and then counts,
		// under a lock at <path>/locks. Turnstile has a queue at the path, as for its other locks.
		{"semaphores, curator on kazoo", python, Semaphore, java, Semaphore},
		{"semaphores, curator on turnstile", ours, Semaphore, java, Semaphore},
		{"semaphores, turnstile on kazoo", python, Semaphore, ours, Semaphore},
	} {
		t.Run(pair.name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, s *server) {
				witness := serveWitness(t)
				job := pair.next.job(s, witness, pair.other, "/apart")
				first := pair.first.job(s, witness, pair.recipe, "/apart")
				release := pair.first.detained(t, witness, first)
				err := scene.Receive(t, pair.next.start(t, witness, job))
				require.ErrorContains(t, err, fmt.Sprintf("%s enters /apart (", job.Holder(1, 1)))
				require.Regexp(t, ` (while|with) `+first.Holder(1, 1)+` (is )?inside`, err.Error())
				require.Contains(t, witness.Violations()[0], job.Holder(1, 1))
				release()
				s.requireEmpty(t, "/apart")
			})
		})
	}
}

// serveWitness gives a witness whose violations are the test's own business.
func serveWitness(t *testing.T) *WitnessServer {
	t.Helper()
	s, err := ServeWitness(NewWitness())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}
