package interop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// contest is a job of several threads on several sessions. They hold a permit for longer than it takes
// to get one, so that all permits are out and one more would be noticed.
func contest(recipe Recipe, permits int) Job {
	job := Job{Recipe: recipe, Sessions: 3, Threads: 2, Rounds: 6, Permits: permits, Hold: time.Millisecond}
	if recipe == Semaphore {
		job.Hold = 30 * time.Millisecond
	}
	return job
}

// runAlone runs a job as the only one on its path, and requires that it went right and left nothing.
func runAlone(t *testing.T, s *server, w *Worker, job Job) Summary {
	t.Helper()
	witness := StartWitness(t)
	job.Connect, job.Witness = s.addr, witness.Addr()
	job.Path = "/alone/" + w.kind + "/" + string(orDefault(job.Task, Contest)) + "-" + string(job.Recipe)
	job.Name = w.kind
	summary, err := w.Run(deadline(t), job)
	require.NoError(t, err)
	if job.Task == "" {
		require.Equal(t, total(job), summary.Acquired)
		places := 1
		if job.Recipe == Multi {
			places = 2
		}
		require.Len(t, witness.Entries(), places*total(job))
	}
	s.requireEmpty(t, job.Path)
	return summary
}

func TestCuratorContest(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, job := range []Job{
			contest(Mutex, 0), contest(ReadWrite, 0), contest(Semaphore, 2), contest(Multi, 0),
		} {
			t.Run(string(job.Recipe), func(t *testing.T) { runAlone(t, s, curator.Get(t), job) })
		}
	})
}

// Attempts that give up come and go in the middle of the queue.
func TestCuratorContestOfTheImpatient(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, job := range []Job{
			contest(Mutex, 0), contest(ReadWrite, 0), contest(Semaphore, 2), contest(Multi, 0),
		} {
			job.Rounds, job.Hold, job.Patience = 3, 5*time.Millisecond, 20*time.Millisecond
			t.Run(string(job.Recipe), func(t *testing.T) { runAlone(t, s, curator.Get(t), job) })
		}
	})
}

func TestCuratorBehaviour(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, job := range []Job{
			{Task: Timeout, Recipe: Mutex},
			{Task: Timeout, Recipe: Read},
			{Task: Timeout, Recipe: Write},
			{Task: Timeout, Recipe: Semaphore},
			{Task: Timeout, Recipe: Multi},
			{Task: Sharing, Recipe: Read},
			{Task: Sharing, Recipe: Semaphore, Permits: 2},
			{Task: ClosedSession, Recipe: Mutex},
			{Task: ClosedSession, Recipe: Read},
			{Task: ClosedSession, Recipe: Write},
			{Task: ClosedSession, Recipe: Semaphore},
			{Task: ClosedSession, Recipe: Multi},
			{Task: Reentrancy, Recipe: Mutex},
			{Task: Revocation, Recipe: Mutex},
			{Task: Downgrade, Recipe: ReadWrite},
			{Task: DowngradeBesideWaiter, Recipe: ReadWrite},
			{Task: Upgrade, Recipe: ReadWrite},
			{Task: GivingBack, Recipe: Multi},
		} {
			t.Run(string(job.Task)+"-"+string(job.Recipe), func(t *testing.T) {
				runAlone(t, s, curator.Get(t), job)
			})
		}
	})
}
