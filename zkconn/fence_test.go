package zkconn_test

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// guarded gives a connection, and a guard of version 0 that has data.
func guarded(t *testing.T, opts ...zkconn.Option) (*embedded.Server, *zkconn.Conn, zkconn.Guard) {
	t.Helper()
	server := embedded.Run(t)
	conn := scene.Dial(t, server.Addr(), opts...)
	require.NoError(t, conn.EnsureParents("/queue"))
	made, err := conn.Commit([]zkconn.NewNode{{Parent: "/queue", Prefix: "n-", Data: []byte("said")}}, nil, nil, nil)
	require.NoError(t, err)
	return server, conn, zkconn.Guard{Path: "/queue/" + made[0].Name}
}

func create(path string) []zkconn.Op { return []zkconn.Op{{Kind: zkconn.OpCreate, Path: path}} }

// TestFence: a transaction with the guard of before is refused, and one with the new guard is carried out. The node's data
// stay. A second fence of the same guard writes nothing.
func TestFence(t *testing.T) {
	_, conn, guard := guarded(t)
	for range 3 {
		now, err := conn.Fence(guard)
		require.NoError(t, err)
		require.Equal(t, zkconn.Guard{Path: guard.Path, Version: 1}, now)
	}
	data, stat, err := conn.Get(guard.Path)
	require.NoError(t, err)
	require.Equal(t, "said", string(data))
	require.EqualValues(t, 1, stat.Version)

	_, _, err = conn.Txn(guard, create("/old"))
	require.ErrorIs(t, err, zkconn.ErrGuardChanged)
	require.NotErrorIs(t, err, zkconn.ErrBadVersion, "that is of an op")
	require.Equal(t, zkconn.Refused, zkconn.OutcomeOf(err))
	require.True(t, zkconn.CommittedRefusal(err))
	require.ErrorContains(t, err, guard.Path)
	_, exists, err := conn.Exists("/old")
	require.NoError(t, err)
	require.False(t, exists)

	now := zkconn.Guard{Path: guard.Path, Version: 1}
	_, _, err = conn.Txn(now, []zkconn.Op{{Kind: zkconn.OpSet, Path: "/queue", Version: 7}})
	require.ErrorIs(t, err, zkconn.ErrBadVersion)
	require.NotErrorIs(t, err, zkconn.ErrGuardChanged)
	_, _, err = conn.Txn(now, create("/new"))
	require.NoError(t, err)
}

// TestFenceByOthers: a write of somebody else to the guard fences it, and is not overwritten.
func TestFenceByOthers(t *testing.T) {
	_, conn, guard := guarded(t)
	require.NoError(t, conn.SetData(guard.Path, []byte("a revoke request")))
	now, err := conn.Fence(guard)
	require.NoError(t, err)
	require.EqualValues(t, 1, now.Version)
	data, stat, err := conn.Get(guard.Path)
	require.NoError(t, err)
	require.Equal(t, "a revoke request", string(data))
	require.EqualValues(t, 1, stat.Version)
}

// TestFenceRaces: somebody writes between the read and the write of a fence, which then writes nothing.
func TestFenceRaces(t *testing.T) {
	server, conn, guard := guarded(t)
	other := scene.Dial(t, server.Addr())
	fault, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: guard.Path, Action: embedded.HoldReplies})
	require.NoError(t, err)
	type result struct {
		now zkconn.Guard
		err error
	}
	done := make(chan result, 1)
	go func() {
		now, err := conn.Fence(guard)
		done <- result{now, err}
	}()
	require.NoError(t, fault.Wait(t.Context()))
	require.NoError(t, other.SetData(guard.Path, []byte("theirs")))
	fault.Release()
	r := scene.Receive(t, done)
	require.NoError(t, r.err)
	require.EqualValues(t, 1, r.now.Version)
	data, stat, err := conn.Get(guard.Path)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(data))
	require.EqualValues(t, 1, stat.Version)
}

// TestFenceOfAGuardThatIsGone: that it is gone fences, too, and a committed transaction shows it. Where that is lost,
// nothing is certain.
func TestFenceOfAGuardThatIsGone(t *testing.T) {
	server, conn, guard := guarded(t)
	require.NoError(t, conn.Delete(guard.Path))
	fault, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: guard.Path, Action: embedded.CutBefore})
	require.NoError(t, err)
	_, err = conn.Fence(guard)
	require.Equal(t, zkconn.Unknown, zkconn.OutcomeOf(err))
	require.NoError(t, fault.Wait(t.Context()))
	require.Empty(t, fences(t, conn, guard))
	_, _, err = conn.Txn(guard, create("/old"))
	require.ErrorIs(t, err, zkconn.ErrGuardGone)
	require.ErrorIs(t, err, zkconn.ErrNoNode)
}

// TestFenceIsRefused: a guard that may not be read or written cannot be fenced, nor one of any version.
func TestFenceIsRefused(t *testing.T) {
	for name, perms := range map[string]int32{"no WRITE": zk.PermAll &^ zk.PermWrite, "no READ": zk.PermAll &^ zk.PermRead} {
		t.Run(name, func(t *testing.T) {
			_, conn, guard := guarded(t, zkconn.WithACL(zk.WorldACL(perms)...))
			_, err := conn.Fence(guard)
			require.ErrorIs(t, err, zkconn.ErrNoAuth)
		})
	}
	_, conn, guard := guarded(t)
	guard.Version = -1
	_, err := conn.Fence(guard)
	require.ErrorIs(t, err, zkconn.ErrBadConfig)
	guard.Version = -2
	_, _, err = conn.Txn(guard, create("/x"))
	require.ErrorIs(t, err, zkconn.ErrBadConfig)
}

// TestReplyToFenceIsLost: the outcome is unknown. A second call finds that the guard is fenced, or fences it, once.
func TestReplyToFenceIsLost(t *testing.T) {
	for _, action := range []embedded.Action{embedded.CutAfter, embedded.CutBefore} {
		t.Run(fmt.Sprint(action), func(t *testing.T) {
			server, conn, guard := guarded(t)
			fault, err := server.Inject(embedded.Fault{Op: embedded.OpSetData, Path: guard.Path, Action: action})
			require.NoError(t, err)
			_, err = conn.Fence(guard)
			require.Equal(t, zkconn.Unknown, zkconn.OutcomeOf(err))
			require.NoError(t, fault.Wait(t.Context()))
			require.EqualValues(t, 1, fences(t, conn, guard).Version)
		})
	}
}

// fences fences as soon as a connection that was cut is there again.
func fences(t *testing.T, conn *zkconn.Conn, guard zkconn.Guard) (now zkconn.Guard) {
	t.Helper()
	scene.Eventually(t, func() bool {
		var err error
		now, err = conn.Fence(guard)
		return zkconn.OutcomeOf(err) == zkconn.Applied
	}, "it is fenced")
	return now
}
