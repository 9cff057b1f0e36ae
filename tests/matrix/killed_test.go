//go:build linux

package matrix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// serverTick is the tick of the servers in tests that measure a hand-over.
const serverTick = 200 * time.Millisecond

// eachKind runs a test on an embedded server and on a real one.
func eachKind(t *testing.T, run func(t *testing.T, connect string)) {
	t.Run("embedded", func(t *testing.T) { run(t, embedded.Run(t, embedded.WithTick(serverTick)).Addr()) })
	t.Run("real", func(t *testing.T) { run(t, rig.StartStandalone(t, rig.WithTickTime(serverTick)).Addr()) })
}

// TestHolderIsKilled: kill -9 of the holder's process; the next holds within the session timeout and a tick.
func TestHolderIsKilled(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, connect string) {
		p, err := startChild(order{Connect: connect, Timeout: brief, Path: lockPath})
		require.NoError(t, err)
		defer p.end(t)
		require.NoError(t, p.Tell("lock"))
		held, err := p.await("lock", "")
		require.NoError(t, err)
		next := newRealPlayer(t, openReal(t, connect, locks.WithSessionTimeout(long)), lockPath)
		next.wait(t)

		killed := time.Now()
		require.NoError(t, p.Kill())
		lease := next.hold(t)
		took := time.Since(killed)
		require.Greater(t, lease.Token(), held.Token)
		require.NoError(t, lease.Unlock(bounded(t)))
		t.Logf("held %v after the kill; the session timeout and a tick are %v", took, brief+serverTick)
		// A machine that is busy may be late; one that is idle is not.
		require.Less(t, took, brief+serverTick+long)
	})
}

// TestSharersAreKilled: kill -9 of a process in which calls share a hold. Another process is next, and
// nothing is left.
func TestSharersAreKilled(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, connect string) {
		p, err := startChild(order{Connect: connect, Timeout: brief, Path: lockPath, Sharers: 3})
		require.NoError(t, err)
		defer p.end(t)
		require.NoError(t, p.Tell("lock"))
		held, err := p.await("lock", "")
		require.NoError(t, err)
		next := newRealPlayer(t, openReal(t, connect, locks.WithSessionTimeout(long)), lockPath)
		next.wait(t)
		require.NoError(t, p.Kill())
		lease := next.hold(t)
		require.Greater(t, lease.Token(), held.Token)
		queue, err := next.client.Queue(bounded(t), lockPath)
		require.NoError(t, err)
		require.Len(t, queue, 1)
		require.NoError(t, lease.Unlock(bounded(t)))
	})
}

// TestOrderlyClose: a client that is closed hands its lock over at once, and not after its session's timeout.
func TestOrderlyClose(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, connect string) {
		holder := openReal(t, connect, locks.WithSessionTimeout(long))
		first, err := holder.Mutex(lockPath).Lock(bounded(t))
		require.NoError(t, err)
		next := newRealPlayer(t, openReal(t, connect, locks.WithSessionTimeout(long)), lockPath)
		next.wait(t)

		begun := time.Now()
		require.NoError(t, holder.Close(bounded(t)))
		lease := next.hold(t)
		took := time.Since(begun)
		<-first.Context().Done()
		require.Greater(t, lease.Token(), first.Token())
		require.NoError(t, lease.Unlock(bounded(t)))
		t.Logf("handed over in %v; the session timeout is %v", took, long)
		require.Less(t, took, long)
	})
}
