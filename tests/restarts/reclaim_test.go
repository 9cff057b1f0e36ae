package restarts

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

const reclaimed = "/reclaimed"

// onlooker waits for the lock in another process's session: it holds as soon as anybody but the one that reclaims
// could.
type onlooker struct {
	client *locks.Client
	got    <-chan patient.Answer
}

func onlookerOf(t *testing.T, at *stories.Servers) *onlooker {
	t.Helper()
	w := &onlooker{client: at.Open(t)}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patient.Bound)
	t.Cleanup(cancel)
	w.got = patient.Elsewhere(ctx, w.client.Mutex(reclaimed).Lock)
	stories.AwaitCount(t, at, reclaimed, 2)
	return w
}

// holds waits until the witness holds, and gives its token.
func (w *onlooker) holds(t *testing.T) *locks.Lease {
	t.Helper()
	a := patient.Receive(t, w.got)
	require.NoError(t, a.Err)
	return a.Lease
}

// TestReclaim: a holder is killed and started again, several times, while somebody waits. Each
// holds at the place of the one before, with a greater token and in another session. The waiter
// holds when the last gives back, and has a greater token than all.
func TestReclaim(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		r := reclaimer{at.Connect(), reclaimed, sessionFile(t), "me", patient.Session}
		p := r.start(t)
		p.opened(t)
		last := p.holds(t)
		w := onlookerOf(t, at)
		conn := at.Raw(t)
		for range 4 {
			require.NoError(t, p.Kill())
			p = r.start(t)
			p.opened(t)
			next := p.holds(t)
			require.Greater(t, next.token, last.token)
			require.NotEqual(t, last.session, next.session)
			require.Equal(t, number(last.node), number(next.node))
			require.Len(t, at.Children(t, conn, reclaimed), 2)
			queue := patient.QueueOf(t, w.client, reclaimed)
			require.Equal(t, next.node, queue[0].Node)
			require.Equal(t, []string{next.node}, queue[1].WaitsFor)
			require.Empty(t, w.got, "nobody else has held")
			last = next
		}
		p.gives(t)
		lease := w.holds(t)
		require.Greater(t, lease.Token(), last.token)
		patient.GiveBack(t, lease)
		require.Empty(t, readFile(t, r.File))

		p = r.start(t) // there is nothing to reclaim
		p.opened(t)
		require.Greater(t, p.holds(t).token, lease.Token())
		p.gives(t)
	})
}

// number is the sequence number of a node.
func number(node string) string { return node[strings.LastIndexByte(node, '-'):] }

// TestReclaimFromOneThatIsStopped: while the holder is stopped nobody takes anything from it, for it may go on; when
// it is killed the next one does.
func TestReclaimFromOneThatIsStopped(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		r := reclaimer{at.Connect(), reclaimed, sessionFile(t), "me", patient.Session}
		p := r.start(t)
		p.opened(t)
		last := p.holds(t)
		w := onlookerOf(t, at)
		require.NoError(t, p.Pause())
		second := r.start(t)
		require.Equal(t, "refused true", second.Hear(t))
		<-second.Exited()
		require.Equal(t, last.node, patient.QueueOf(t, w.client, reclaimed)[0].Node)
		require.NoError(t, p.Kill())
		p = r.start(t)
		p.opened(t)
		next := p.holds(t)
		require.Greater(t, next.token, last.token)
		require.Empty(t, w.got)
		p.gives(t)
		require.Greater(t, w.holds(t).Token(), next.token)
	})
}

// TestTwoLocksAreReclaimed: each with its own key, and one that was waited for is not; what is not reclaimed is
// free when the session is closed.
func TestTwoLocksAreReclaimed(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		record, held := reclaimable(t, at, 15*time.Second, "/one", "/two", "/three")
		path := sessionFile(t)
		leave(t, path, record)
		client, other := at.Open(t, locks.WithSessionFile(path)), at.Open(t)
		for _, p := range []string{"/one", "/two"} {
			_, err := other.Mutex(p).TryLock(patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrNotAcquired)
			lease := patient.Locked(t, client.Mutex(p, locks.WithReclaim("me")).TryLock)
			require.Greater(t, lease.Token(), held[p])
		}
		_, err := client.Mutex("/three", locks.WithReclaim("another")).TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		lease := patient.Locked(t, other.Mutex("/three").Lock)
		require.Greater(t, lease.Token(), held["/three"])
		patient.Eventually(t, func() bool { return !strings.Contains(readFile(t, path), hex(record.Session)) },
			"it stays in the file")
	})
}

// TestNotReclaimed: the waiter holds first, and the process that is started again queues like any
// other.
func TestNotReclaimed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  func(t *testing.T, at *stories.Servers, w *onlooker)  // the holder is killed
		between func(t *testing.T, at *stories.Servers, r *reclaimer) // it is killed, and started again
		remains bool                                                  // its session does, until it expires
	}{
		"the session has expired": {between: func(t *testing.T, at *stories.Servers, r *reclaimer) {
			all := left(t, r.File)
			require.True(t, all[0].Reclaim)
			require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), all[0].Session, all[0].Password))
		}},
		"another key":  {remains: true, between: func(_ *testing.T, _ *stories.Servers, r *reclaimer) { r.Label = "another" }},
		"no key":       {remains: true, between: func(_ *testing.T, _ *stories.Servers, r *reclaimer) { r.Label = "" }},
		"another file": {remains: true, between: func(t *testing.T, _ *stories.Servers, r *reclaimer) { r.File = sessionFile(t) }},
		"a damaged file": {remains: true, between: func(t *testing.T, _ *stories.Servers, r *reclaimer) {
			text := readFile(t, r.File)
			require.NoError(t, os.WriteFile(r.File, []byte(text[:len(text)/2]), 0o600))
		}},
		"a file that others may read": {remains: true, between: func(t *testing.T, _ *stories.Servers, r *reclaimer) {
			require.NoError(t, os.Chmod(r.File, 0o644))
			p := r.start(t)
			require.Equal(t, "refused false", p.Hear(t))
			<-p.Exited()
			require.NoError(t, os.Chmod(r.File, 0o600))
			require.NoError(t, os.Remove(r.File))
		}},
		"revoke requested": {remains: true, before: func(t *testing.T, _ *stories.Servers, w *onlooker) {
			_, err := w.client.Revoke(patient.Deadline(t), reclaimed)
			require.NoError(t, err)
		}},
		"broken": {before: func(t *testing.T, _ *stories.Servers, w *onlooker) {
			require.NoError(t, w.client.Break(patient.Deadline(t), patient.QueueOf(t, w.client, reclaimed)[0]))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
				r := reclaimer{at.Connect(), reclaimed, sessionFile(t), "me", patient.Session}
				p := r.start(t)
				p.opened(t)
				first := p.holds(t)
				w := onlookerOf(t, at)
				if c.before != nil {
					c.before(t, at, w)
				}
				require.NoError(t, p.Kill())
				all := left(t, r.File)
				if c.between != nil {
					c.between(t, at, &r)
				}
				p = r.start(t)
				p.opened(t)
				if c.remains {
					stories.AwaitCount(t, at, reclaimed, 3)
					require.Empty(t, w.got, "the dead holder's node is there")
					require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), all[0].Session, all[0].Password))
				}
				lease := w.holds(t)
				require.Greater(t, lease.Token(), first.token)
				patient.GiveBack(t, lease)
				require.Greater(t, p.holds(t).token, lease.Token())
				p.gives(t)
			})
		})
	}
}
