package matrix

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// parts are the locks that All takes together, in its order, each through a client of its own; the last is waited for.
var parts = []struct {
	name string
	kind func(path string) kind
}{
	{"mutex", func(path string) kind {
		return func(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.Mutex(path, opts...) }
	}},
	{"read", func(path string) kind {
		return func(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.RWMutex(path, opts...).Reader() }
	}},
	{"semaphore", func(path string) kind {
		return func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
			return c.Semaphore(path, 1, opts...).Weight(1)
		}
	}},
	{"contest", func(path string) kind {
		return func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
			return c.Contest(path+"/"+contested, opts...)
		}
	}},
	{"write", func(path string) kind {
		return func(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.RWMutex(path, opts...) }
	}},
}

func pathOf(part int) string { return fmt.Sprintf("/all-%d", part) }

// loss is a loss of one part of All.
type loss struct {
	name   string
	befall func(t *testing.T, w *world, p *player, part int)
	// waits is the error of the part that is waited for: nil where it goes on waiting.
	waits error
}

var losses = []loss{
	{name: "session-expired", befall: func(t *testing.T, w *world, p *player, _ int) {
		require.NoError(t, w.server.Expire(p.session()))
	}},
	{name: "node-deleted", befall: func(t *testing.T, w *world, p *player, part int) {
		for _, node := range w.ownedIn(t, p, pathOf(part)) {
			require.NoError(t, w.operator.Delete(pathOf(part)+"/"+node, -1))
		}
	}},
	{name: "client-closed", waits: locks.ErrClosed, befall: func(t *testing.T, _ *world, p *player, _ int) {
		require.NoError(t, p.client.Close(patient(t)))
	}},
	{name: "cut-and-expired", befall: func(t *testing.T, w *world, p *player, _ int) {
		w.refuse(true)
		w.server.Replica(0).DropClients() // everybody, but the others are back in time
		w.refuse(false)
		require.NoError(t, w.server.Expire(p.session()))
	}},
	{name: "silence", befall: func(t *testing.T, w *world, p *player, _ int) {
		session := p.session()
		silence, err := w.server.Inject(embedded.Fault{Session: session, Action: embedded.HoldReplies})
		require.NoError(t, err)
		require.NoError(t, silence.Wait(patient(t)))
		time.Sleep(timeout * 2 / 5)
		require.NoError(t, w.server.Expire(session))
		silence.Release()
	}},
}

// ownedIn lists the nodes of a player's session in a lock path.
func (w *world) ownedIn(t *testing.T, p *player, path string) (all []string) {
	t.Helper()
	names, _, err := w.operator.Children(path)
	require.NoError(t, err)
	for _, name := range names {
		if exists, stat, err := w.operator.Exists(path + "/" + name); err == nil && exists && stat.EphemeralOwner == p.session() {
			all = append(all, name)
		}
	}
	return withoutGuard(all)
}

// TestRecipesAllLosesAPart: one part of All is lost while all are held, or while another is waited for. Then the others are
// given back, and somebody else can have all of them at once.
func TestRecipesAllLosesAPart(t *testing.T) {
	for part := range parts {
		for i, loss := range losses {
			if nightly(part + i) {
				continue
			}
			t.Run(fmt.Sprintf("held/%s/%s", parts[part].name, loss.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { loseHeld(t, part, loss) })
			})
			t.Run(fmt.Sprintf("waiting/%s/%s", parts[part].name, loss.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { loseWaiting(t, part, loss) })
			})
		}
	}
}

// cast opens a client for each part, and one for somebody else.
func cast(t *testing.T) (w *world, players []*player, all []locks.Locker, other *player) {
	t.Helper()
	w = newWorld(t, 1)
	for i, part := range parts {
		p := w.joinAs(t, part.kind(pathOf(i)), w.server.Connect())
		players = append(players, p)
		all = append(all, p.locker)
	}
	return w, players, all, w.join(t, w.server.Connect())
}

func loseHeld(t *testing.T, part int, loss loss) {
	w, players, all, other := cast(t)
	leases, err := locks.All(patient(t), all...)
	require.NoError(t, err)
	require.True(t, leases.Valid())
	loss.befall(t, w, players[part], part)
	select {
	case <-leases.Context().Done():
	case <-patient(t).Done():
		t.Fatal("the loss is never told")
	}
	require.ErrorIs(t, context.Cause(leases.Context()), lostOrClosed(loss))
	require.False(t, leases.Valid())
	require.ErrorIs(t, leases.Unlock(patient(t)), lostOrClosed(loss))
	takeAll(t, w, other)
}

// lostOrClosed is the error of a part that is held.
func lostOrClosed(l loss) error {
	if l.waits != nil {
		return l.waits
	}
	return locks.ErrLost
}

func loseWaiting(t *testing.T, part int, loss loss) {
	w, players, all, other := cast(t)
	last := len(parts) - 1
	before, err := parts[last].kind(pathOf(last))(other.client).Lock(patient(t))
	require.NoError(t, err)
	got := make(chan error, 1)
	ctx := patient(t)
	var leases *locks.Leases
	go func() {
		var err error
		leases, err = locks.All(ctx, all...)
		got <- err
	}()
	players[last].await(t, messages.StateWatching)
	synctest.Wait()
	loss.befall(t, w, players[part], part)
	if part == last && loss.waits == nil { // it queues again
		eventually(t, func() bool {
			states := players[last].rec.States()
			return len(states) > 4 && states[len(states)-1] == stWatching
		}, "it waits again")
		require.NoError(t, before.Unlock(patient(t)))
		require.NoError(t, <-got)
		require.True(t, leases.Valid())
		require.NoError(t, leases.Unlock(patient(t)))
		takeAll(t, w, other)
		return
	}
	err = <-got
	require.ErrorIs(t, err, lostOrClosed(loss))
	require.NoError(t, before.Unlock(patient(t)))
	takeAll(t, w, other)
}

// takeAll has somebody else take all parts, without waiting for more than what is being given back; then nothing is
// left.
func takeAll(t *testing.T, w *world, other *player) {
	t.Helper()
	var all []locks.Locker
	for i, part := range parts {
		all = append(all, part.kind(pathOf(i))(other.client))
	}
	began := time.Now()
	leases, err := locks.All(patient(t), all...)
	require.NoError(t, err)
	require.Less(t, time.Since(began), timeout/2, "something was left until its session ended, or was found out by a poll")
	synctest.Wait() // a guard whose node was deleted by itself goes behind that
	for i := range parts {
		require.Len(t, w.childrenOf(t, pathOf(i)), 1, pathOf(i))
	}
	require.NoError(t, leases.Unlock(patient(t)))
	for i := range parts {
		require.Empty(t, w.childrenOf(t, pathOf(i)), pathOf(i))
	}
}
