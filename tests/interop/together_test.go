package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Curator and kazoo do not keep each other out with the names that each of them gives its nodes; why,
// and how they do, is in python/curator_names.py.

// pending is a job that runs.
type pending struct{ done chan error }

func start(t *testing.T, w *Worker, job Job) pending {
	p := pending{make(chan error, 1)}
	ctx := within(t, job)
	go func() {
		summary, err := w.Run(ctx, job)
		if err == nil && summary.Acquired != total(job) {
			err = fmt.Errorf("%s held %d times instead of %d", job.Name, summary.Acquired, total(job))
		}
		p.done <- err
	}()
	return p
}

func (p pending) wait(t *testing.T) {
	t.Helper()
	require.NoError(t, <-p.done)
}

func TestTogether(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, recipe := range []Recipe{Mutex, ReadWrite} {
			t.Run(string(recipe), func(t *testing.T) {
				witness := StartWitness(t)
				java := contest(recipe, 0)
				java.Connect, java.Path, java.Witness = s.addr, "/together/"+string(recipe), witness.Addr()
				python := java
				java.Name = "curator"
				python.Name, python.Names = "kazoo", CuratorNames
				one := start(t, curator.Get(t), java)
				other := start(t, kazooed.Get(t), python)
				one.wait(t)
				other.wait(t)
				require.Len(t, witness.Entries(), total(java)+total(python))
				s.requireEmpty(t, java.Path)
			})
		}
	})
}

// The first in the queue is inside first, with any client.
func TestTogetherInOrder(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := Job{Recipe: Mutex, Connect: s.addr, Path: "/order", Witness: witness.Addr()}
		java, python := job, job
		python.Names = CuratorNames

		inside, release := witness.Detain("0/1.1")
		defer release()
		var jobs []pending
		var want, got []string
		for i := range 6 {
			name := fmt.Sprint(i)
			if java.Name, python.Name = name, name; i%2 == 0 {
				jobs = append(jobs, start(t, curator.Get(t), java))
			} else {
				jobs = append(jobs, start(t, kazooed.Get(t), python))
			}
			want = append(want, java.Holder(1, 1))
			s.awaitCount(t, job.Path, i+1)
		}
		<-inside
		release()
		for _, p := range jobs {
			p.wait(t)
		}
		for _, entry := range witness.Entries() {
			got = append(got, entry.Holder)
		}
		require.Equal(t, want, got)
		s.requireEmpty(t, job.Path)
	})
}
