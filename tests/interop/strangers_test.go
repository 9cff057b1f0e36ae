package interop

import (
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// go-zookeeper's Lock has made its node when it finds that it cannot read another's name, and returns
// without it: for as long as its session lives, nobody gets in.
func TestZkLockFailsOnStrangers(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, name := range []string{"read-0000000001", "config", "leases"} {
			path := "/fatal-" + name
			s.make(t, path+"/"+name)
			var number *strconv.NumError
			err := zk.NewLock(s.conn, s.Root()+path, zk.WorldACL(zk.PermAll)).Lock()
			require.ErrorAs(t, err, &number)
			nodes := s.below(t, path)
			require.Len(t, nodes, 2, "its node is there")
			_, err = scene.Open(t, s.Connect()).Mutex(path).TryLock(scene.Deadline(t))
			require.ErrorIs(t, err, locks.ErrNotAcquired)
			require.NoError(t, s.conn.Delete(s.Root()+nodes[0], -1))
			require.NoError(t, s.conn.Delete(s.Root()+nodes[1], -1))
		}
	})
}

// Curator waits for every name that sorts before its own number: digits, and characters before
// digits.
func TestCuratorWaitsForStrangersBeforeDigits(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		job := java.job(s, StartWitness(t), Mutex, "/before")
		job.Patience = 50 * time.Millisecond
		s.make(t, job.Path+"/-note")
		done := make(chan Summary, 1)
		worker, ctx := curator(t), within(t, job)
		go func() {
			summary, err := worker.Run(ctx, job)
			if err != nil {
				t.Error(err)
			}
			done <- summary
		}()
		s.awaitCreates(t, job.Path, 3) // the note, and a second attempt

		held, err := scene.Open(t, s.Connect()).Mutex(job.Path).Lock(scene.Deadline(t))
		require.NoError(t, err, "Turnstile passes over it")
		scene.GiveBack(t, held)

		require.NoError(t, s.conn.Delete(s.Root()+job.Path+"/-note", -1))
		require.Positive(t, (<-done).TimedOut)
		s.requireEmpty(t, job.Path)
	})
}

// A reader of kazoo's waits for the last writer before it. Before 2.9 it waited for the last writer of the
// queue, also for one behind it, which waits for it in turn. Here those writers are nodes of nobody's.
func TestKazooReaderPassesOverAWriterBehindIt(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := python.job(s, witness, Read, "/reader")
		s.make(t, job.Path)
		before := s.sequential(t, job.Path, "0af3__lock__")
		reader := python.start(t, witness, job)
		s.awaitCount(t, job.Path, 2)
		behind := s.sequential(t, job.Path, "0af4__lock__")
		require.Empty(t, witness.Entries(), "there is a writer before it")

		before()
		require.NoError(t, scene.Receive(t, reader))
		require.Len(t, witness.Entries(), 1)
		behind()
		s.requireEmpty(t, job.Path)
	})
}

// TestQueueSaysWhoMayHold: kazoo's lock as it comes walks in beside a holder with another name, and the queue does not
// say that it waits only. With kazoo's names on both sides it does wait.
func TestQueueSaysWhoMayHold(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		client := scene.Open(t, s.Connect())
		lease := scene.LockAt(t, client, "/beside")
		witness := StartWitness(t)
		release := python.detained(t, witness, python.job(s, witness, Mutex, "/beside"))
		all := scene.QueueOf(t, client, "/beside")
		require.Len(t, all, 2)
		require.Equal(t, []bool{true, false}, []bool{all[0].Holds, all[0].MayHold})
		require.Equal(t, []bool{false, true}, []bool{all[1].Holds, all[1].MayHold})
		require.Equal(t, messages.LibraryKazoo, all[1].Library)
		require.True(t, lease.Valid())
		release()
		scene.GiveBack(t, lease)
	})
}
