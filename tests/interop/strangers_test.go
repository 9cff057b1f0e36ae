package interop

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// strangers are other children of a lock path: a note of somebody's, and the folders of Curator's
// semaphore.
var strangers = []string{"config", "leases"}

// put makes nodes that belong to no lock, and removes them with the test.
func (s *server) put(t *testing.T, path string, names ...string) {
	t.Helper()
	s.make(t, path)
	for _, name := range names {
		s.make(t, path+"/"+name)
		t.Cleanup(func() {
			if err := s.conn.Delete(path+"/"+name, -1); !errors.Is(err, zk.ErrNoNode) {
				require.NoError(t, err)
			}
		})
	}
}

func TestMostPassOverStrangers(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := contest(Mutex, 0)
		job.Connect, job.Path, job.Witness = s.addr, "/strangers/passed", witness.Addr()
		job.Names = CuratorNames
		s.put(t, job.Path, strangers...)
		job.Name = "curator"
		all := []pending{start(t, curator.Get(t), job)}
		job.Name = "kazoo"
		all = append(all, start(t, kazooed.Get(t), job))
		job.Name = "turnstile"
		all = append(all, startHere(t, turnstile, witness.Witness, job))
		for _, p := range all {
			p.wait(t)
		}
		require.Len(t, witness.Entries(), 3*total(job))
		require.Len(t, s.below(t, job.Path), len(strangers))
	})
}

// go-zookeeper's Lock has made its node when it finds that it cannot read another's name, and returns
// without it: for as long as its session lives, nobody gets in.
func TestZkLockFailsOnStrangers(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, name := range append([]string{"read-0000000001"}, strangers...) {
			t.Run(name, func(t *testing.T) {
				path := "/strangers/fatal-" + name
				s.put(t, path, name)
				var number *strconv.NumError
				err := zk.NewLock(connect(t, s.addr), path, zk.WorldACL(zk.PermAll)).Lock()
				require.ErrorAs(t, err, &number)
				require.Len(t, s.below(t, path), 2, "its node is there")
				_, err = openTurnstile(t, s.addr).Mutex(path).TryLock(deadline(t))
				require.ErrorIs(t, err, locks.ErrNotAcquired)
			})
		}
	})
}

// Curator waits for every name that sorts before its own number: digits, and characters before
// digits.
func TestCuratorWaitsForStrangersBeforeDigits(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := Job{
			Name: "curator", Recipe: Mutex, Connect: s.addr, Path: "/strangers/before",
			Witness: witness.Addr(), Patience: 50 * time.Millisecond,
		}
		s.put(t, job.Path, "-note")
		done := make(chan Summary, 1)
		worker, ctx := curator.Get(t), within(t, job)
		go func() {
			summary, err := worker.Run(ctx, job)
			if err != nil {
				t.Error(err)
			}
			done <- summary
		}()
		s.awaitCreates(t, job.Path, 3) // the note, and a second attempt

		held, err := openTurnstile(t, s.addr).Mutex(job.Path).Lock(deadline(t))
		require.NoError(t, err, "Turnstile passes over it")
		patient.GiveBack(t, held)

		require.NoError(t, s.conn.Delete(job.Path+"/-note", -1))
		require.Positive(t, (<-done).TimedOut)
		s.requireEmpty(t, job.Path)
	})
}

// awaitCreates waits until so many children have been made, of which no event tells.
func (s *server) awaitCreates(t *testing.T, path string, count int32) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, stat, err := s.conn.Get(path)
		// The cversion that servers show counts creates and deletes.
		return err == nil && (stat.Cversion+stat.NumChildren)/2 >= count
	}, bound, 10*time.Millisecond, "%s never had %d children, one after the other", path, count)
}
