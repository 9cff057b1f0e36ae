package kinds

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// strikeCohort has something happen to the session of a cohort whose second request holds, while two wait behind it and
// somebody of another client does. All who wait have their turn then, one after the other.
func strikeCohort(t *testing.T, at *stories.Servers, path string, strike func(proxy *rig.Proxy, holds *locks.Lease)) {
	t.Helper()
	proxy := at.Proxy(t)
	client, other := patient.Open(t, proxy.Addr()+at.Root()), patient.Open(t, at.Connect())
	first, err := client.Mutex(path, locks.WithCohort(8)).Lock(patient.Deadline(t))
	require.NoError(t, err)
	waiting := cohortOf(t, client, path, 3, 8)
	rec := patient.Recorder(t, other)
	theirs := patient.Elsewhere(patient.Deadline(t), other.Mutex(path, patient.ObservedBy(rec)).Lock)
	patient.Await(t, rec, messages.StateWatching)
	var mu sync.Mutex
	var served sync.WaitGroup
	var granted []messages.Token
	grants := func(lease *locks.Lease) {
		mu.Lock()
		defer mu.Unlock()
		granted = append(granted, lease.Token())
	}
	serve := func(next <-chan patient.Answer) {
		served.Go(func() {
			got := <-next
			if assert.NoError(t, got.Err) {
				grants(got.Lease)
				assert.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
			}
		})
	}
	serve(theirs) // before the second, where the machine is so slow that the cohort's time is over
	require.NoError(t, first.Unlock(patient.Deadline(t)))
	second := patient.Receive(t, waiting[0])
	require.NoError(t, second.Err)
	require.Greater(t, second.Lease.Token(), first.Token())
	grants(second.Lease)
	for _, next := range waiting[1:] {
		serve(next)
	}
	strike(proxy, second.Lease)
	served.Wait()
	require.Len(t, granted, 4)
	require.IsIncreasing(t, granted)
	stories.AwaitNone(t, at, path)
}

// TestCohortSurvivesACut: the connection is cut in mid-cohort. The holder goes on holding, and
// gives back.
func TestCohortSurvivesACut(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		strikeCohort(t, at, "/cut", func(proxy *rig.Proxy, holds *locks.Lease) {
			proxy.Cut()
			require.NoError(t, holds.Unlock(patient.Deadline(t)))
		})
	})
}

// TestCohortKeepsItsOrder: calls that wait without a node are granted the lock in the order in which they came, also when
// the connection was lost meanwhile, or the session; a call that is made while there is no connection comes behind them.
func TestCohortKeepsItsOrder(t *testing.T) {
	for name, ends := range map[string]bool{"a cut": false, "an expiry": true} {
		t.Run(name, func(t *testing.T) {
			stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
				proxy := at.Proxy(t)
				client := patient.Open(t, proxy.Addr()+at.Root(), locks.WithSessionTimeout(stories.Longest))
				first, err := client.Mutex("/order", locks.WithCohort(16)).Lock(patient.Deadline(t))
				require.NoError(t, err)
				waiting := cohortOf(t, client, "/order", 6, 16)
				id, password, ok := proxy.Session()
				require.True(t, ok)
				proxy.Refuse(true)
				proxy.Cut()
				patient.Eventually(t, func() bool { return client.State().Phase != actors.Connected }, "cut off")
				waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), client.Mutex("/order", locks.WithCohort(16)).Lock))
				patient.AwaitInside(t, client, 7)
				if ends {
					require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), id, password))
				}
				proxy.Refuse(false)
				if ends {
					patient.AwaitLost(t, first)
				} else {
					require.NoError(t, first.Unlock(patient.Deadline(t)))
				}
				last := first.Token()
				for i, next := range waiting { // each is granted only when the one before has given back
					got := patient.Receive(t, next)
					require.NoError(t, got.Err)
					require.Greater(t, got.Lease.Token(), last, "call %d", i)
					last = got.Lease.Token()
					require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
				}
				stories.AwaitNone(t, at, "/order")
			})
		})
	}
}

// TestCohortLosesItsSession: the session ends in mid-cohort. The holder has lost the lock; the
// others ask anew.
func TestCohortLosesItsSession(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		strikeCohort(t, at, "/ended", func(proxy *rig.Proxy, holds *locks.Lease) {
			id, password, ok := proxy.Session()
			require.True(t, ok)
			proxy.Refuse(true)
			proxy.Cut()
			require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), id, password))
			proxy.Refuse(false)
			patient.AwaitLost(t, holds)
			require.ErrorIs(t, holds.Unlock(context.WithoutCancel(patient.Deadline(t))), locks.ErrLost)
		})
	})
}

// TestCohortLosesReplies: the connection is cut in place of the answer to the delete of a node: that it is gone is found
// out, and the next have their turn.
func TestCohortLosesReplies(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		strikeCohort(t, at, "/unheard", func(proxy *rig.Proxy, holds *locks.Lease) {
			proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: rig.DropReply})
			require.NoError(t, holds.Unlock(patient.Deadline(t)))
		})
	})
}
