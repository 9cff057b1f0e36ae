package txn

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// journaled is an ensemble with a journal, to which transactions append.
type journaled struct {
	*scene.Late
	t *testing.T
}

func newJournaled(t *testing.T) *journaled {
	t.Helper()
	j := &journaled{scene.StartLate(t), t}
	_, err := j.Witness.Create("/journal", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return j
}

type written struct {
	results []locks.OpResult
	err     error
}

// send begins a transaction under a lease, and returns when the follower has it.
func (j *journaled) send(ctx context.Context, lease *locks.Lease) <-chan written {
	j.t.Helper()
	answer := make(chan written, 1)
	j.Sent("/journal/e-", func() {
		results, err := lease.Txn(ctx, locks.CreateSequential("/journal/e-", []byte("entry")))
		answer <- written{results, err}
	})
	return answer
}

// entries lists what transactions have written.
func (j *journaled) entries() []string {
	j.t.Helper()
	_, err := j.Witness.Set("/journal", nil, -1) // a transaction behind all others
	require.NoError(j.t, err)
	names, _, err := j.Witness.Children("/journal")
	require.NoError(j.t, err)
	return names
}

// TestRealStuckTxn: a transaction is stuck at a server. Its session moves on, where the transaction is resolved and sent
// again. Then the old server gets the session back, by a connect request that the client has given up, and the leader
// carries out what that server had. The transaction is carried out once.
func TestRealStuckTxn(t *testing.T) {
	j := newJournaled(t)
	client := j.Open()
	lease := scene.Locked(t, client.Mutex("/lock").Lock)
	j.Stall()
	answer := j.send(scene.Deadline(t), lease)
	j.Move()
	told := scene.Receive(t, answer)
	require.NoError(t, told.err)
	j.Heal()
	require.Equal(t, []string{strings.TrimPrefix(told.results[0].Path, "/journal/")}, j.entries(), "carried out once, as told")
	_, err := lease.Txn(scene.Deadline(t), locks.Create("/after", nil))
	require.NoError(t, err, "the lease goes on")
	scene.GiveBack(t, lease)
}

// TestRealStuckTxnBeforeItsFence: the old server gets the session back between the read of the fence and its write, and the
// leader carries the transaction out. The write is refused, because the session has moved. The next fence shows that the
// transaction was carried out, and it is not sent again.
func TestRealStuckTxnBeforeItsFence(t *testing.T) {
	j := newJournaled(t)
	lease := scene.Locked(t, j.Open().Mutex("/lock").Lock)
	scene.Eventually(t, func() bool { return j.Proxy.Operations(rig.OpGetData) > 0 }, "the holder has read its node")
	j.Stall()
	answer := j.send(scene.Deadline(t), lease)
	fence := j.Proxy.Expect(rig.Rule{Op: rig.OpGetData, Action: rig.Delay,
		Path: func(path string) bool { return path == "/lock/"+lease.Node() }})
	j.Move()
	scene.Receive(t, fence.Fired())
	require.Empty(t, j.entries())
	j.Heal()
	require.Equal(t, []string{"e-0000000000"}, j.entries(), "it was carried out late")
	fence.Release()
	told := scene.Receive(t, answer)
	require.NoError(t, told.err)
	require.Equal(t, "/journal/e-0000000000", told.results[0].Path)
	require.Len(t, j.entries(), 1, "and once")
	require.True(t, lease.Valid())
	scene.GiveBack(t, lease)
}

// TestRealStuckTxnOfAnEarlierHold: the caller of the transaction gives up before its outcome is known, and unlocks. The
// next hold of the same client uses the same node. The transaction is not carried out under that hold.
func TestRealStuckTxnOfAnEarlierHold(t *testing.T) {
	j := newJournaled(t)
	client := j.Open()
	mutex := client.Mutex("/lock", locks.WithSticky(time.Hour))
	lease := scene.Locked(t, mutex.Lock)
	j.Stall()
	ctx, cancel := context.WithCancel(scene.Deadline(t))
	answer := j.send(ctx, lease)
	cancel()
	require.ErrorIs(t, scene.Receive(t, answer).err, locks.ErrUnknownOutcome)
	fence := j.Proxy.Expect(rig.Rule{Op: rig.OpSetData, Action: rig.CutBefore,
		Path: func(path string) bool { return path == "/lock/"+lease.Node() }})
	j.Move()
	scene.Receive(t, fence.Fired())                       // the first fence is lost, too
	_, _, err := lease.Get(scene.Deadline(t), "/journal") // behind all that is done about the transaction
	require.NoError(t, err)
	scene.GiveBack(t, lease)
	next := scene.Locked(t, mutex.Lock)
	require.Equal(t, lease.Node(), next.Node())
	require.Empty(t, j.entries())
	j.Heal()
	require.Empty(t, j.entries(), "nothing is written of a hold that is over")
	_, err = next.Txn(scene.Deadline(t), locks.CreateSequential("/journal/e-", nil))
	require.NoError(t, err)
	scene.GiveBack(t, next)
}
