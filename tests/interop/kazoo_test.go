package interop

import "testing"

func TestKazooContest(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, job := range []Job{contest(Mutex, 0), contest(ReadWrite, 0), contest(Semaphore, 2)} {
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
