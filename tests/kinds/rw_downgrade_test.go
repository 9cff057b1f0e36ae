package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// downgrades are the two ways from writing to reading.
var downgrades = map[string]func(t *testing.T, w *locks.Lease, rw *locks.RWMutex) (*locks.Lease, error){
	"Downgrade": func(t *testing.T, w *locks.Lease, _ *locks.RWMutex) (*locks.Lease, error) {
		return w.Downgrade(patient.Deadline(t))
	},
	"RLock within, then Unlock": func(t *testing.T, w *locks.Lease, rw *locks.RWMutex) (*locks.Lease, error) {
		r, err := rw.RLock(w.Context())
		if err != nil {
			return nil, err
		}
		require.True(t, w.Valid(), "for now it reads and writes")
		return r, w.Unlock(patient.Deadline(t))
	},
}

// crowd is a writer and, behind it, a writer and a reader that wait.
type crowd struct {
	writer, reader <-chan patient.Answer
}

func behind(t *testing.T, client *locks.Client, path string) crowd {
	t.Helper()
	writes, reads := patient.Recorder(t, client), patient.Recorder(t, client)
	w := patient.Elsewhere(patient.Deadline(t), client.RWMutex(path, patient.ObservedBy(writes)).Lock)
	patient.Await(t, writes, messages.StateWatching)
	r := patient.Elsewhere(patient.Deadline(t), client.RWMutex(path, patient.ObservedBy(reads)).RLock)
	patient.Await(t, reads, messages.StateWatching)
	return crowd{w, r}
}

// requireTurn lets a crowd in: the writer first, and the reader behind it.
func (c crowd) requireTurn(t *testing.T, before messages.Token) {
	t.Helper()
	w := patient.Receive(t, c.writer)
	require.NoError(t, w.Err)
	require.Greater(t, w.Lease.Token(), before)
	require.Empty(t, c.reader)
	patient.GiveBack(t, w.Lease)
	r := patient.Receive(t, c.reader)
	require.NoError(t, r.Err)
	patient.GiveBack(t, r.Lease)
}

// TestDowngradeBeforeACrowd: with writers and readers behind, of the same session and of another, nobody comes in
// between.
func TestDowngradeBeforeACrowd(t *testing.T) {
	t.Parallel()
	for name, downgrade := range downgrades {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
				one, two := zk.Open(t), zk.Open(t)
				rw := one.RWMutex("/down")
				w := patient.Locked(t, rw.Lock)
				theirs, ours := behind(t, two, "/down"), behind(t, one, "/down")
				r, err := downgrade(t, w, rw)
				require.NoError(t, err)
				require.Equal(t, w.Token(), r.Token())
				require.NotEqual(t, w.Node(), r.Node())
				require.ErrorIs(t, context.Cause(w.Context()), locks.ErrReleased)
				patient.CatchUp(t, one)
				patient.CatchUp(t, two)
				require.Empty(t, theirs.writer)
				require.Empty(t, theirs.reader)
				require.Empty(t, ours.writer)
				require.Empty(t, ours.reader)
				require.True(t, r.Valid())
				_, err = rw.Lock(r.Context())
				require.ErrorIs(t, err, locks.ErrUpgrade, "there is no way back")
				patient.GiveBack(t, r)
				theirs.requireTurn(t, r.Token())
				ours.requireTurn(t, r.Token())
				stories.AwaitNone(t, zk, "/down")
			})
		})
	}
}

// TestDowngradeMeetsFaults: after the loss of any request or reply, the lease is one for reading in
// the end, and nobody came in between.
func TestDowngradeMeetsFaults(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]rig.Rule{
		"the create's reply is lost":  {Op: rig.OpCreate, Action: rig.DropReply},
		"the create is cut off":       {Op: rig.OpCreate, Action: rig.CutBefore},
		"the delete's reply is lost":  {Op: rig.OpDelete, Action: rig.DropReply},
		"the delete is cut off":       {Op: rig.OpDelete, Action: rig.CutBefore},
		"the create is cut off twice": {Op: rig.OpCreate, Action: rig.CutBefore, Count: 2},
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
				proxy := zk.Proxy(t)
				one, two := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
				w := patient.Locked(t, one.RWMutex("/down").Lock)
				waiting := behind(t, two, "/down")
				fault := proxy.Expect(rule)
				r := patient.Locked(t, w.Downgrade)
				stories.AwaitFault[patient.Answer](t, fault, nil)
				require.Equal(t, w.Token(), r.Token())
				patient.CatchUp(t, two)
				require.Empty(t, waiting.writer)
				require.Empty(t, waiting.reader)
				require.Len(t, zk.Children(t, zk.Raw(t), "/down"), 3, "the reader and those behind it")
				require.True(t, r.Valid())
				patient.GiveBack(t, r)
				waiting.requireTurn(t, r.Token())
				stories.AwaitNone(t, zk, "/down")
			})
		})
	}
}

// TestSessionExpiresDuringADowngrade: the lease is lost, the downgrade says so, and the next in the queue has it.
func TestSessionExpiresDuringADowngrade(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		one, two := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
		w := patient.Locked(t, one.RWMutex("/down").Lock)
		waiting := behind(t, two, "/down")
		fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply})
		proxy.Refuse(true) // once cut off, the client cannot come back before the session has ended
		done := patient.Elsewhere(patient.Deadline(t), w.Downgrade)
		stories.AwaitFault(t, fault, done)
		id, password, ok := proxy.Session()
		require.True(t, ok)
		require.NoError(t, rig.ExpireSession(patient.Deadline(t), zk.Members[0].Addr(), id, password))
		proxy.Refuse(false)
		got := patient.Receive(t, done)
		require.ErrorIs(t, got.Err, locks.ErrLost)
		<-w.Context().Done()
		require.ErrorIs(t, context.Cause(w.Context()), locks.ErrLost)
		waiting.requireTurn(t, w.Token())
		stories.AwaitNone(t, zk, "/down")
	})
}

// TestOnlyWritersAreDowngraded: other leases say so, and go on.
func TestOnlyWritersAreDowngraded(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for name, lock := range map[string]func(context.Context) (*locks.Lease, error){
			"exclusive": client.Mutex("/m").Lock,
			"read":      client.RWMutex("/r").RLock,
			"semaphore": permitsOf(client.Semaphore("/s", 1), 1),
			"contest":   client.Contest("/c").Lock,
		} {
			lease, err := lock(patient.Deadline(t))
			require.NoError(t, err)
			_, err = lease.Downgrade(patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrNotWriter)
			require.ErrorContains(t, err, name)
			require.True(t, lease.Valid())
			patient.GiveBack(t, lease)
		}
		w := patient.Locked(t, client.RWMutex("/w").Lock)
		patient.GiveBack(t, w)
		_, err := w.Downgrade(patient.Deadline(t))
		require.Error(t, err, "what is given back cannot be downgraded")
		require.Empty(t, zk.Children(t, zk.Raw(t), "/w"))
	})
}
