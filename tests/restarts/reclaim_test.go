package restarts

import (
	"cmp"
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const reclaimed = "/reclaimed"

// takingBack is a process that has died with a lock, and one that waits, in a bubble.
type takingBack struct {
	server *embedded.Server
	dead   *locks.Client // of the one that has died
	other  *locks.Client // of the one that waits
	held   *locks.Lease
	waits  <-chan scene.Answer
	file   string // of the dead process
}

// takeBack begins one. before is what happens before the process dies.
func takeBack(t *testing.T, before func(b *takingBack)) *takingBack {
	t.Helper()
	b := &takingBack{server: scene.Virtual(t)}
	b.other = scene.Client(t, b.server)
	record, held := abandoned(t, b.server, reclaimed, "me", func(dead *locks.Client) {
		b.dead = dead
		b.waits = scene.Elsewhere(t.Context(), b.other.Mutex(reclaimed).Lock)
		time.Sleep(time.Second)
		if before != nil {
			before(b)
		}
	})
	require.True(t, record.Reclaim)
	b.held, b.file = held, leave(t, record)
	time.Sleep(time.Second)
	return b
}

// restart is the process that is started again.
func (b *takingBack) restart(t *testing.T) *locks.Client {
	t.Helper()
	return scene.Client(t, b.server, locks.WithSessionFile(b.file))
}

// useUpPlaces writes the last token of its zxid into the dead holder's node, as after the most
// restarts that a token can count.
func useUpPlaces(t *testing.T, b *takingBack) {
	t.Helper()
	conn, node := scene.Dial(t, b.server.Connect(), zkconn.WithDialer(b.server.DialContext)), reclaimed+"/"+b.held.Node()
	data, _, err := conn.Get(node)
	require.NoError(t, err)
	owner, ours := queue.ParseOwner(data)
	require.True(t, ours)
	last, err := messages.NewToken(b.held.Token().Zxid(), messages.MaxPlace)
	require.NoError(t, err)
	owner.Token = int64(last)
	require.NoError(t, conn.SetData(node, owner.Encode()))
}

// holdsThen finds that first holds, and then second, with greater tokens than those before.
func (b *takingBack) holdsThen(t *testing.T, first, second <-chan scene.Answer) {
	t.Helper()
	a := scene.Receive(t, first)
	require.NoError(t, a.Err)
	require.Greater(t, a.Lease.Token(), b.held.Token())
	synctest.Wait()
	require.Empty(t, second)
	scene.GiveBack(t, a.Lease)
	after := scene.Receive(t, second)
	require.NoError(t, after.Err)
	require.Greater(t, after.Lease.Token(), a.Lease.Token())
	scene.GiveBack(t, after.Lease)
}

// TestTakeOverLosesMessages: the request to take the node over is lost, or its reply, with or
// without the session; or one of the reads that look for it.
func TestTakeOverLosesMessages(t *testing.T) {
	for name, c := range map[string]struct {
		action embedded.Action
		expire bool
		first  bool        // it holds before the one that waits
		asks   embedded.Op // at a question
	}{
		"question":             {embedded.CutBefore, false, true, embedded.OpMulti},
		"answer":               {embedded.CutAfter, false, true, embedded.OpMulti},
		"listing":              {embedded.CutBefore, false, true, embedded.OpGetChildren2},
		"reading":              {embedded.CutBefore, false, true, embedded.OpGetData},
		"question and session": {embedded.ExpireBefore, false, true, embedded.OpMulti},
		"request":              {embedded.CutBefore, false, true, 0},
		"reply":                {embedded.CutAfter, false, true, 0},
		"request and session":  {embedded.ExpireBefore, false, true, 0}, // the next session does it
		"reply and session":    {embedded.DropReply, true, false, 0},    // the node goes with the session
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := takeBack(t, nil)
				client, at := b.restart(t), reclaimed
				if c.asks == 0 || c.asks == embedded.OpGetData {
					at += "/" + b.held.Node()
				}
				fault, err := b.server.Inject(embedded.Fault{Op: cmp.Or(c.asks, embedded.OpMulti), Path: at, Action: c.action})
				require.NoError(t, err)
				mine := client.Session().ID()
				got := scene.Elsewhere(t.Context(), client.Mutex(reclaimed, locks.WithReclaim("me")).Lock)
				require.NoError(t, fault.Wait(scene.Deadline(t)))
				if c.expire {
					require.NoError(t, b.server.Expire(mine))
				}
				if c.first {
					b.holdsThen(t, got, b.waits)
				} else {
					b.holdsThen(t, b.waits, got)
				}
			})
		})
	}
}

// TestNotReclaimed: the waiter holds first, and the process that is started again queues like any other. Where its
// predecessor's session lives nobody holds before that has had its timeout to be taken back.
func TestNotReclaimed(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, b *takingBack) // the holder is killed
		after  func(t *testing.T, b *takingBack)
		key    string // with which it is started again
		free   bool   // at once
	}{
		"the session has expired": {key: "me", free: true, after: func(t *testing.T, b *takingBack) { require.NoError(t, b.server.Expire(b.held.Session())) }},
		"another key":             {key: "another"},
		"no key":                  {},
		"another file":            {key: "me", after: func(t *testing.T, b *takingBack) { b.file = sessionFile(t) }},
		"a damaged file": {key: "me", after: func(t *testing.T, b *takingBack) {
			text := readFile(t, b.file)
			require.NoError(t, os.WriteFile(b.file, []byte(text[:len(text)/2]), 0o600))
		}},
		"revoke requested": {key: "me", before: func(t *testing.T, b *takingBack) {
			_, err := b.other.Revoke(t.Context(), reclaimed)
			require.NoError(t, err)
		}},
		"restarted too often": {key: "me", after: useUpPlaces},
		"broken": {key: "me", free: true, before: func(t *testing.T, b *takingBack) {
			require.NoError(t, b.other.Break(t.Context(), scene.QueueOf(t, b.other, reclaimed)[0]))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := takeBack(t, func(b *takingBack) {
					if c.before != nil {
						c.before(t, b)
					}
				})
				if c.after != nil {
					c.after(t, b)
				}
				got := scene.Elsewhere(t.Context(), b.restart(t).Mutex(reclaimed, locks.WithReclaim(c.key)).Lock)
				time.Sleep(timeout / 2)
				require.Equal(t, c.free, len(b.waits) == 1)
				b.holdsThen(t, b.waits, got)
			})
		})
	}
}

// TestReclaimOnlyOnce: what is reclaimed and given back is the next one's, and a second request with the key queues. A
// transaction of the dead process that arrives late is refused.
func TestReclaimOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := takeBack(t, nil)
		client := b.restart(t)
		scene.WritePlace(t, client)
		mutex := client.Mutex(reclaimed, locks.WithReclaim("me"))
		lease := scene.Locked(t, mutex.Lock)
		_, err := mutex.TryLock(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.ErrorIs(t, scene.Swap(t.Context(), b.held, "stale", 0), locks.ErrLost)
		require.NoError(t, scene.Swap(t.Context(), lease, "mine", 0))
		scene.RequireAt(t, client, 1)
		scene.GiveBack(t, lease)
		b.held = lease
		b.holdsThen(t, b.waits, scene.Elsewhere(t.Context(), mutex.Lock))
	})
}

// TestSeveralAreReclaimed: of two locks the second is taken back. What is not taken back is free when a session timeout has
// passed, not before, and the session is not in the file any more.
func TestSeveralAreReclaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held *locks.Lease
		b := takeBack(t, func(b *takingBack) { held = scene.Locked(t, b.dead.Mutex("/two", locks.WithReclaim("me")).Lock) })
		begun := time.Now()
		client := b.restart(t)
		lease := scene.Locked(t, client.Mutex("/two", locks.WithReclaim("me")).TryLock)
		require.Greater(t, lease.Token(), held.Token())
		a := scene.Receive(t, b.waits)
		require.NoError(t, a.Err)
		require.Equal(t, timeout, time.Since(begun).Truncate(time.Second))
		require.True(t, lease.Valid())
		time.Sleep(time.Second)
		require.NotContains(t, readFile(t, b.file), hex(held.Session()))
		scene.GiveBack(t, a.Lease, lease)
	})
}

// TestNothingToReclaim: a process that is started again asks with a reclaim key where nobody
// queues, or for a lock path that does not exist. It holds at once, and takes back what it left
// elsewhere.
func TestNothingToReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := takeBack(t, func(b *takingBack) { scene.GiveBack(t, scene.Locked(t, b.other.Mutex("/empty").Lock)) })
		client := b.restart(t)
		for _, path := range []string{"/empty", "/missing"} {
			scene.GiveBack(t, scene.Locked(t, client.Mutex(path, locks.WithReclaim("me")).TryLock))
		}
		require.Empty(t, b.waits)
		b.holdsThen(t, scene.Elsewhere(t.Context(), client.Mutex(reclaimed, locks.WithReclaim("me")).Lock), b.waits)
	})
}

// TestReclaimInANamedQueue: the name of the queue is found in the names of nodes that may be reclaimed, too, and
// readers wait for such a hold as for any other.
func TestReclaimInANamedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		for _, name := range []string{"", "of-orders", "read-", "reclaim-x"} {
			var opts []locks.LockOption
			if name != "" {
				opts = append(opts, locks.WithName(name))
			}
			lease := scene.Locked(t, client.Mutex(reclaimed, append(opts, locks.WithReclaim("me"))...).Lock)
			for _, try := range []func(context.Context) (*locks.Lease, error){
				other.Mutex(reclaimed, opts...).TryLock, other.RWMutex(reclaimed, opts...).TryRLock,
			} {
				_, err := try(t.Context())
				require.ErrorIs(t, err, locks.ErrNotAcquired, name)
			}
			scene.GiveBack(t, lease)
		}
	})
}

// TestReclaimIsRefused where the token of a hold cannot be told by its node, and with a key that is too long.
func TestReclaimIsRefused(t *testing.T) {
	client, me := scene.Open(t, embedded.Run(t).Addr()), locks.WithReclaim("me")
	for _, lock := range []func(context.Context) (*locks.Lease, error){
		client.Mutex(reclaimed, me, locks.WithSticky(time.Second)).Lock,
		client.Mutex(reclaimed, me, locks.WithCohort(2)).Lock,
		client.RWMutex(reclaimed, me).RLock,
		client.RWMutex(reclaimed, me).Lock,
		client.Semaphore(reclaimed, 2, me).Weight(1).Lock,
		client.Contest(reclaimed, me).Lock,
		client.Mutex(reclaimed, locks.WithReclaim(string(make([]byte, 1025)))).Lock,
	} {
		_, err := lock(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
	}
}
