package interop

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// onlyOne looks into a lock path that has one contender.
func onlyOne(t *testing.T, client *locks.Client, lockPath string) messages.Contender {
	t.Helper()
	all, err := client.Queue(deadline(t), lockPath)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.True(t, all[0].Holds)
	return all[0]
}

// Queue tells other libraries' nodes by the names and data that they really write.
func TestQueueTellsWhoseNodesTheyAre(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		client := openTurnstile(t, s.addr)
		for _, c := range []struct {
			name   string
			worker *sharedWorker
			job    Job
			want   messages.Library
			mode   messages.Mode
		}{
			{"curator", curator, Job{Recipe: Mutex}, messages.LibraryCurator, messages.Exclusive},
			{"curator-read", curator, Job{Recipe: Read}, messages.LibraryCurator, messages.Read},
			{"curator-write", curator, Job{Recipe: Write}, messages.LibraryCurator, messages.Write},
			{"kazoo", kazooed, Job{Recipe: Mutex}, messages.LibraryKazoo, messages.Exclusive},
			{"kazoo-read", kazooed, Job{Recipe: Read}, messages.LibraryKazoo, messages.Read},
		} {
			t.Run(c.name, func(t *testing.T) {
				witness := StartWitness(t)
				job := c.job
				job.Name, job.Connect, job.Path, job.Witness = c.name, s.addr, "/whose/"+c.name, witness.Addr()
				inside, release := witness.Detain(job.Holder(1, 1))
				defer release()
				holding := start(t, c.worker.Get(t), job)
				patient.Receive(t, inside)
				got := onlyOne(t, client, job.Path)
				require.Equal(t, c.want, got.Library)
				require.Equal(t, c.mode, got.Mode)
				require.Equal(t, path.Base(witness.Entries()[0].Node), got.Node)
				require.Empty(t, got.Who, "it does not say who is blocked")
				release()
				holding.wait(t)
			})
		}
		t.Run("go-zookeeper", func(t *testing.T) {
			job := Job{Connect: s.addr, Path: "/whose/go-zookeeper"}
			lock, err := zkLock(t, job)(Mutex)(deadline(t))
			require.NoError(t, err)
			got := onlyOne(t, client, job.Path)
			require.Equal(t, messages.LibraryGoZookeeper, got.Library)
			require.Equal(t, lock.node, got.At())
			require.NoError(t, lock.release(deadline(t)))
		})
		for _, naming := range []messages.Naming{messages.CuratorNaming, messages.KazooNaming, messages.RecipeNaming} {
			lease := patient.Locked(t, client.Mutex("/whose/turnstile", locks.WithNaming(naming)).Lock)
			require.Equal(t, messages.LibraryTurnstile, onlyOne(t, client, "/whose/turnstile").Library)
			patient.GiveBack(t, lease)
		}
	})
}

// TestQueueSaysWhoMayHold: kazoo's lock as it comes walks in beside a holder with another name, and the queue does not
// say that it waits only. With kazoo's names on both sides it does wait.
func TestQueueSaysWhoMayHold(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		client := openTurnstile(t, s.addr)
		ours := patient.Locked(t, client.Mutex("/beside").Lock)
		witness := StartWitness(t)
		job := Job{Recipe: Mutex, Name: "kazoo", Connect: s.addr, Path: "/beside", Witness: witness.Addr()}
		inside, release := witness.Detain(job.Holder(1, 1))
		defer release()
		holding := start(t, kazooed.Get(t), job)
		patient.Receive(t, inside)
		all, err := client.Queue(deadline(t), "/beside")
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, []bool{true, false}, []bool{all[0].Holds, all[0].MayHold})
		require.Equal(t, []bool{false, true}, []bool{all[1].Holds, all[1].MayHold})
		require.Equal(t, messages.LibraryKazoo, all[1].Library)
		require.True(t, ours.Valid())
		release()
		holding.wait(t)
		patient.GiveBack(t, ours)
	})
}
