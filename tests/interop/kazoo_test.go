package interop

import (
	"testing"
	"time"
)

// impatient has readers and writers of kazoo's give up after a while. kazoo 2.8.0's ReadLock waits for
// the last writer of the queue, and a writer that came after it waits for it in turn: whenever a
// writer queues behind a reader that waits, both wait until one of them has enough.
func impatient(job Job) Job {
	job.Threads, job.Rounds, job.Patience = 1, 4, 150*time.Millisecond
	return job
}

func TestKazooContest(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, job := range []Job{contest(Mutex, 0), impatient(contest(ReadWrite, 0)), contest(Semaphore, 2)} {
			t.Run(string(job.Recipe), func(t *testing.T) { t.Log(runAlone(t, s, kazooed.Get(t), job)) })
		}
	})
}

func TestKazooBehaviour(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, job := range []Job{
			{Task: Timeout, Recipe: Mutex},
			{Task: Timeout, Recipe: Read},
			{Task: Timeout, Recipe: Write},
			{Task: Timeout, Recipe: Semaphore},
			{Task: NonBlocking, Recipe: Mutex},
			{Task: NonBlocking, Recipe: Read},
			{Task: NonBlocking, Recipe: Write},
			{Task: NonBlocking, Recipe: Semaphore},
			{Task: Sharing, Recipe: Read},
			{Task: Sharing, Recipe: Semaphore, Permits: 2},
			{Task: ClosedSession, Recipe: Mutex},
			{Task: ClosedSession, Recipe: Read},
			{Task: ClosedSession, Recipe: Write},
			{Task: ClosedSession, Recipe: Semaphore},
			{Task: Cancelling, Recipe: Mutex},
			{Task: Cancelling, Recipe: Read},
			{Task: Cancelling, Recipe: Write},
			{Task: Cancelling, Recipe: Semaphore},
			{Task: Listing, Recipe: Mutex},
			{Task: Listing, Recipe: Write},
			{Task: Listing, Recipe: Semaphore, Permits: 2},
		} {
			t.Run(string(job.Task)+"-"+string(job.Recipe), func(t *testing.T) {
				runAlone(t, s, kazooed.Get(t), job)
			})
		}
	})
}
