package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// Clients that do not keep each other out. Each test has a real pair of clients that hold together,
// as the witness must then say.

// A comer that is expected to walk in on a holder.
type comer struct {
	name   string
	worker *sharedWorker
	job    Job
}

// requireWalksIn runs a comer while a lock is held, and requires that it is inside nonetheless.
func (c comer) requireWalksIn(t *testing.T, witness *WitnessServer, holder string) {
	t.Helper()
	c.job.Name = c.name
	_, err := c.worker.Get(t).Run(within(t, c.job), c.job)
	require.ErrorContains(t, err, fmt.Sprintf("%s enters %s (", c.job.Holder(1, 1), c.job.Path))
	require.Regexp(t, ` (while|with) `+holder+` (is )?inside`, err.Error())
	require.Contains(t, witness.Violations()[0], c.job.Holder(1, 1))
}

// holdHere has a client of this process hold a lock, until release is called.
func holdHere(t *testing.T, client goClient, witness *Witness, job Job) (release func()) {
	t.Helper()
	held, err := client(t, job)(job.Recipe)(deadline(t))
	require.NoError(t, err)
	require.NoError(t, witness.EnterWith(held.node, job.Holder(1, 1), job.Path, Exclusive()))
	return func() {
		require.NoError(t, witness.Leave(job.Holder(1, 1), job.Path))
		require.NoError(t, held.release(deadline(t)))
	}
}

// requireWalksInOnHere has a client of this process hold and requires that the comer walks in on it.
func requireWalksInOnHere(t *testing.T, s *server, c comer, holder string, client goClient, recipe Recipe) {
	t.Helper()
	witness := serveWitness(t)
	c.job.Connect, c.job.Witness = s.addr, witness.Addr()
	c.job.Path = "/apart/" + c.name + "-" + holder + "-" + string(c.job.Recipe)
	job := c.job
	job.Name, job.Recipe = holder, recipe
	release := holdHere(t, client, witness.Witness, job)
	c.requireWalksIn(t, witness, job.Holder(1, 1))
	release()
	s.requireEmpty(t, job.Path)
}

// kazoo's Lock as it comes looks only at nodes of its own name; and Curator's write lock only at those
// of its read and write locks.
func TestWhoWalksInOnTurnstileAndZkLock(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for holder, client := range map[string]goClient{"turnstile": turnstile, "go-zookeeper": zkLock} {
			for _, c := range []comer{
				{"kazoo", kazooed, Job{Recipe: Mutex}},
				{"curator-write", curator, Job{Recipe: Write}},
			} {
				t.Run(c.name+"-on-"+holder, func(t *testing.T) {
					requireWalksInOnHere(t, s, c, holder, client, Mutex)
				})
			}
		}
	})
}

// Between Curator's mutex and kazoo's own names one walks in on the other, in either order.
func TestCuratorAndKazooNamesDoNotKeepOut(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, pair := range []struct {
			name         string
			first, comer comer
		}{
			{"kazoo on curator", comer{"curator", curator, Job{Recipe: Mutex}},
				comer{"kazoo", kazooed, Job{Recipe: Mutex}}},
			{"curator on kazoo", comer{"kazoo", kazooed, Job{Recipe: Mutex}},
				comer{"curator", curator, Job{Recipe: Mutex}}},
			{"curator on kazoo with patterns", comer{"kazoo", kazooed, Job{Recipe: Mutex, Names: ExtraPatterns}},
				comer{"curator", curator, Job{Recipe: Mutex}}},
		} {
			t.Run(pair.name, func(t *testing.T) {
				requireApart(t, s, "/apart/"+pair.first.name+pair.first.job.Names+"-first", pair.first, pair.comer)
			})
		}
	})
}

// Semaphores do not even look at the same nodes. kazoo counts the children of the path and then adds
// one of its own, under a lock at <path>-__lock__. Curator adds one to <path>/leases and then counts,
// under a lock at <path>/locks. Turnstile has a queue at the path, as for its other locks.
func TestSemaphoresDoNotKeepOut(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		t.Run("curator on kazoo", func(t *testing.T) {
			requireApart(t, s, "/apart/semaphores-kazoo",
				comer{"kazoo", kazooed, Job{Recipe: Semaphore}}, comer{"curator", curator, Job{Recipe: Semaphore}})
		})
		t.Run("curator on turnstile", func(t *testing.T) {
			requireWalksInOnHere(t, s, comer{"curator", curator, Job{Recipe: Semaphore}}, "turnstile", turnstile, Semaphore)
		})
		t.Run("turnstile on kazoo", func(t *testing.T) {
			witness := serveWitness(t)
			job := Job{
				Name: "kazoo", Recipe: Semaphore, Connect: s.addr, Path: "/apart/semaphores-turnstile",
				Witness: witness.Addr(),
			}
			inside, release := witness.Detain(job.Holder(1, 1))
			defer release()
			holding := start(t, kazooed.Get(t), job)
			patient.Receive(t, inside)
			lease, err := openTurnstile(t, s.addr).Semaphore(job.Path, 1).Acquire(deadline(t), 1)
			require.NoError(t, err)
			patient.GiveBack(t, lease)
			require.Equal(t, []string{"kazoo/1.1 in " + job.Path}, witness.Inside())
			release()
			holding.wait(t)
		})
	})
}

// requireApart has one hold and requires that the next walks in on it.
func requireApart(t *testing.T, s *server, path string, first, next comer) {
	t.Helper()
	witness := serveWitness(t)
	for _, c := range []*comer{&first, &next} {
		c.job.Name, c.job.Connect, c.job.Path, c.job.Witness = c.name, s.addr, path, witness.Addr()
	}
	holder := first.job.Holder(1, 1)
	inside, release := witness.Detain(holder)
	defer release()
	holding := start(t, first.worker.Get(t), first.job)
	patient.Receive(t, inside)
	next.requireWalksIn(t, witness, holder)
	release()
	holding.wait(t)
	s.requireEmpty(t, path)
}
