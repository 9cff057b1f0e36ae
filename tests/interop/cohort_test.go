package interop

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Another client that queues behind a cohort of Turnstile's has its turn when the nodes before its
// own have served: a few grants each, however many wait in the cohort.
func TestOthersBehindACohort(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, other := range []member{goLock, java, renamed} {
			t.Run(other.name, func(t *testing.T) { other.queueBehindACohort(t, s) })
		}
	})
}

func (m member) queueBehindACohort(t *testing.T, s *server) {
	const waiting, grants = 12, 4
	path := "/cohort/" + m.name
	witness := StartWitness(t)
	client := scene.Open(t, s.Connect())
	mutex := client.Mutex(path, locks.WithCohort(grants))
	hold := func(lease *locks.Lease, holder string) {
		assert.NoError(t, witness.Enter(holder, path, Exclusive()))
		assert.NoError(t, witness.Leave(holder, path))
		assert.NoError(t, lease.Unlock(scene.Deadline(t)))
	}
	first := scene.Locked(t, mutex.Lock)
	var working sync.WaitGroup
	for i := range waiting {
		working.Go(func() {
			if lease, err := mutex.Lock(scene.Deadline(t)); assert.NoError(t, err) {
				hold(lease, fmt.Sprint("turnstile ", i))
			}
		})
	}
	comes := m.start(t, witness, m.job(s, witness, Mutex, path))
	before := 0 // nodes of ours that are before the other's
	scene.Eventually(t, func() bool {
		queue := scene.QueueOf(t, client, path)
		before = 0
		for i, c := range queue {
			if c.Session != client.Session().ID() {
				before = i
			}
		}
		return before > 0 && client.State().Inside+len(queue)-2 == waiting
	}, "the other is behind all that wait")
	hold(first, "turnstile first")
	require.NoError(t, scene.Receive(t, comes))
	working.Wait()
	entries := witness.Entries()
	require.Len(t, entries, 1+waiting+1)
	turn := 0
	for !strings.HasPrefix(entries[turn].Holder, m.name+"/") {
		turn++
	}
	require.LessOrEqual(t, turn, before*grants)
	require.Greater(t, turn, 0)
	s.requireEmpty(t, path)
}
