package restarts

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

func hex(session int64) string { return fmt.Sprintf("%#x", uint64(session)) }

// copied gives what is in a session file that is in use.
func copied(t *testing.T, file string) sessionfile.Record {
	t.Helper()
	path := sessionFile(t)
	require.NoError(t, os.WriteFile(path, []byte(readFile(t, file)), 0o600))
	all := left(t, path)
	require.Len(t, all, 1)
	return all[0]
}

// reclaimable gives a session as a process leaves it that dies, and the tokens of the locks that it
// held with the reclaim key "me": its network is gone, so that its own client has lost it, and
// cannot give anything back.
func reclaimable(t *testing.T, at *stories.Servers, timeout time.Duration, paths ...string) (sessionfile.Record,
	map[string]locks.Token) {
	t.Helper()
	proxy, file, held := at.Proxy(t), sessionFile(t), map[string]locks.Token{}
	client := patient.Open(t, proxy.Addr()+at.Root(), locks.WithSessionFile(file), locks.WithSessionTimeout(timeout))
	for _, path := range paths {
		held[path] = patient.Locked(t, client.Mutex(path, locks.WithReclaim("me")).Lock).Token()
	}
	record := copied(t, file)
	require.True(t, record.Reclaim)
	record.Connect = at.Connect()
	proxy.Refuse(true)
	proxy.Cut()
	return record, held
}

// takingBack is a process that has died, one that is started again, and one that waits, in a bubble.
type takingBack struct {
	server *embedded.Server
	held   *locks.Lease
	waits  <-chan patient.Answer
	file   string
}

func takeBack(t *testing.T) *takingBack {
	t.Helper()
	server := bubble.Server(t)
	network, file := &bubble.Network{Server: server}, sessionFile(t)
	dead, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(network.Dial), locks.WithSessionFile(file),
		locks.WithSessionTimeout(10*time.Second))
	require.NoError(t, err)
	bubble.CloseLater(t, dead)
	b := &takingBack{server: server, file: sessionFile(t)}
	b.held = bubble.Locked(t, dead.Mutex(reclaimed, locks.WithReclaim("me")).Lock)
	b.waits = patient.Elsewhere(t.Context(), bubble.Client(t, server).Mutex(reclaimed).Lock)
	time.Sleep(time.Minute)
	network.Be(bubble.Down)
	leave(t, b.file, copied(t, file))
	time.Sleep(time.Second)
	return b
}

// restart is the process that is started again.
func (b *takingBack) restart(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *locks.Client {
	t.Helper()
	client, err := locks.Open(t.Context(), b.server.Connect(), locks.WithDialer(dial), locks.WithSessionFile(b.file),
		locks.WithSessionTimeout(10*time.Second))
	require.NoError(t, err)
	bubble.CloseLater(t, client)
	return client
}

// TestTakeOverLosesMessages: the request to take the node over is lost, or its reply, with or without the session; or
// the question before it, what there is to take over.
func TestTakeOverLosesMessages(t *testing.T) {
	for name, c := range map[string]struct {
		action embedded.Action
		expire bool
		first  bool // it holds before the one that waits
		asking bool // at the question
	}{
		"question":             {embedded.CutBefore, false, true, true},
		"answer":               {embedded.CutAfter, false, true, true},
		"question and session": {embedded.ExpireBefore, false, true, true},
		"request":              {embedded.CutBefore, false, true, false},
		"reply":                {embedded.CutAfter, false, true, false},
		"request and session":  {embedded.ExpireBefore, false, true, false}, // the next session does it
		"reply and session":    {embedded.DropReply, true, false, false},    // the node goes with the session
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := takeBack(t)
				client := b.restart(t, b.server.DialContext)
				at := reclaimed
				if !c.asking {
					at += "/" + b.held.Node()
				}
				fault, err := b.server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: at, Action: c.action})
				require.NoError(t, err)
				mine := client.Session().ID()
				got := patient.Elsewhere(t.Context(), client.Mutex(reclaimed, locks.WithReclaim("me")).Lock)
				require.NoError(t, fault.Wait(t.Context()))
				if c.expire {
					require.NoError(t, b.server.Expire(mine))
				}
				first, second := got, b.waits
				if !c.first {
					first, second = b.waits, got
				}
				a := patient.Receive(t, first)
				require.NoError(t, a.Err)
				require.Greater(t, a.Lease.Token(), b.held.Token())
				require.Empty(t, second)
				bubble.GiveBack(t, a.Lease)
				after := patient.Receive(t, second)
				require.NoError(t, after.Err)
				require.Greater(t, after.Lease.Token(), a.Lease.Token())
				bubble.GiveBack(t, after.Lease)
			})
		})
	}
}

// TestReclaimOnlyOnce: what is reclaimed and given back is the next one's, and a second request with the key queues.
func TestReclaimOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := takeBack(t)
		mutex := b.restart(t, b.server.DialContext).Mutex(reclaimed, locks.WithReclaim("me"))
		lease := bubble.Locked(t, mutex.Lock)
		_, err := mutex.TryLock(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		bubble.GiveBack(t, lease)
		a := patient.Receive(t, b.waits)
		require.NoError(t, a.Err)
		require.Greater(t, a.Lease.Token(), lease.Token())
		bubble.GiveBack(t, a.Lease)
		again := bubble.Locked(t, mutex.Lock)
		require.Greater(t, again.Token(), a.Lease.Token())
		bubble.GiveBack(t, again)
	})
}

// TestPredecessorIsKeptForASessionTimeout: what nobody takes back is free then, not before.
func TestPredecessorIsKeptForASessionTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := takeBack(t)
		begun := time.Now()
		b.restart(t, b.server.DialContext)
		a := patient.Receive(t, b.waits)
		require.NoError(t, a.Err)
		require.Equal(t, 10*time.Second, time.Since(begun).Truncate(time.Second))
		bubble.GiveBack(t, a.Lease)
	})
}

// TestStaleTxnAfterReclaim: a transaction of the dead process that arrives late is refused.
func TestStaleTxnAfterReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := takeBack(t)
		client := b.restart(t, b.server.DialContext)
		bubble.WritePlace(t, client)
		lease := bubble.Locked(t, client.Mutex(reclaimed, locks.WithReclaim("me")).Lock)
		require.ErrorIs(t, bubble.Swap(t.Context(), b.held, "stale", 0), locks.ErrLost)
		require.NoError(t, bubble.Swap(t.Context(), lease, "mine", 0))
		bubble.RequireAt(t, client, 1)
		bubble.GiveBack(t, lease)
	})
}

// TestReclaimInANamedQueue: the name of the queue is found in the names of nodes that may be reclaimed, too, and
// readers wait for such a hold as for any other.
func TestReclaimInANamedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		for _, name := range []string{"", "of-orders", "read-", "reclaim-x"} {
			var opts []locks.LockOption
			if name != "" {
				opts = append(opts, locks.WithName(name))
			}
			lease := bubble.Locked(t, client.Mutex(reclaimed, append(opts, locks.WithReclaim("me"))...).Lock)
			_, err := other.Mutex(reclaimed, opts...).TryLock(t.Context())
			require.ErrorIs(t, err, locks.ErrNotAcquired, name)
			_, err = other.RWMutex(reclaimed, opts...).TryRLock(t.Context())
			require.ErrorIs(t, err, locks.ErrNotAcquired, name)
			bubble.GiveBack(t, lease)
		}
	})
}

// TestReclaimIsRefused where the token of a hold cannot be told by its node.
func TestReclaimIsRefused(t *testing.T) {
	client := patient.Open(t, embedded.Run(t).Addr())
	for _, lock := range []func(context.Context) (*locks.Lease, error){
		client.Mutex(reclaimed, locks.WithReclaim("me"), locks.WithSticky(time.Second)).Lock,
		client.Mutex(reclaimed, locks.WithReclaim("me"), locks.WithCohort(2)).Lock,
		client.RWMutex(reclaimed, locks.WithReclaim("me")).RLock,
		client.RWMutex(reclaimed, locks.WithReclaim("me")).Lock,
		client.Semaphore(reclaimed, 2, locks.WithReclaim("me")).Weight(1).Lock,
		client.Contest(reclaimed, locks.WithReclaim("me")).Lock,
		client.Mutex(reclaimed, locks.WithReclaim(string(make([]byte, 1025)))).Lock,
	} {
		_, err := lock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
	}
}
