package embedded_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A create whose reply is lost is found again by the name that it was given, and not made twice; one that
// was lost on its way there is made.
func TestGozkProtectedCreate(t *testing.T) {
	for _, action := range []embedded.Action{embedded.Pass, embedded.CutBefore, embedded.CutAfter} {
		s := embedded.Run(t)
		c := dialGozk(t, s)
		c.make("/lock", 0)
		fault, err := s.Inject(embedded.Fault{Op: embedded.OpCreate, Path: "/lock/**", Action: action})
		require.NoError(t, err)
		path, err := c.CreateProtectedEphemeralSequential("/lock/n-", nil, worldACL)
		require.NoError(t, err)
		require.Equal(t, 1, fault.Hits())
		children, _, err := c.Children("/lock")
		require.NoError(t, err)
		require.Len(t, children, 1)
		require.Equal(t, path, "/lock/"+children[0])
		_, stat, err := c.Get(path)
		require.NoError(t, err)
		require.Equal(t, c.SessionID(), stat.EphemeralOwner)
	}
}

func TestGozkExpiry(t *testing.T) {
	s := embedded.Run(t)
	for name, away := range map[string]bool{"connected": false, "away": true} {
		t.Run(name, func(t *testing.T) {
			c, other := dialGozk(t, s), dialGozk(t, s)
			session := c.SessionID()
			c.make("/mortal", zk.FlagEphemeral)
			_, _, mine, err := c.ExistsW("/mortal")
			require.NoError(t, err)
			_, _, theirs, err := other.ExistsW("/mortal")
			require.NoError(t, err)
			mend := func() {}
			if away {
				mend = c.cut(s)
			}
			require.NoError(t, s.Expire(session))
			require.Equal(t, zk.EventNodeDeleted, next(t, theirs).Type)
			mend()
			c.await(zk.StateExpired)
			if away { // otherwise it may have been told of the node before
				lost := next(t, mine)
				require.Equal(t, zk.EventNotWatching, lost.Type)
				require.ErrorIs(t, lost.Err, zk.ErrSessionExpired)
			}
			c.await(zk.StateHasSession)
			require.NotEqual(t, session, c.SessionID())
			c.make("/mortal", zk.FlagEphemeral)
			require.NoError(t, c.Delete("/mortal", all))
		})
	}
}

func TestGozkCloseEndsTheSession(t *testing.T) {
	s := embedded.Run(t)
	c, other := dialGozk(t, s), dialGozk(t, s)
	c.make("/mortal", zk.FlagEphemeral)
	_, _, gone, err := other.ExistsW("/mortal")
	require.NoError(t, err)
	c.Close()
	require.Equal(t, zk.EventNodeDeleted, next(t, gone).Type)
	require.Equal(t, []int64{other.SessionID()}, s.Sessions())
}

// TestGozkLock has clients take go-zookeeper's own lock in turns, while connections are cut and replies get
// lost.
func TestGozkLock(t *testing.T) {
	const clients, rounds = 5, 4
	s := embedded.Run(t)
	dialGozk(t, s).make("/lock", 0)
	_, err := s.Inject(embedded.Fault{Op: embedded.OpCreate, Path: "/lock/**", Skip: 2, Count: 3, Action: embedded.CutAfter})
	require.NoError(t, err)
	var inside, turns atomic.Int32
	var working sync.WaitGroup
	for range clients {
		c := dialGozk(t, s)
		working.Go(func() {
			for range rounds {
				lock := zk.NewLock(c.Conn, "/lock", worldACL)
				if err := lock.Lock(); err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two have the lock")
				}
				turns.Add(1)
				inside.Add(-1)
				if err := lock.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	require.Equal(t, int32(clients*rounds), turns.Load())
}

// The lock of a session that ends goes to the next.
func TestGozkLockOfAnExpiredSession(t *testing.T) {
	s := embedded.Run(t)
	holder, waiter := dialGozk(t, s), dialGozk(t, s)
	require.NoError(t, zk.NewLock(holder.Conn, "/lock", worldACL).Lock())
	waits, err := s.Inject(embedded.Fault{Op: embedded.OpGetData, Session: waiter.SessionID(), Action: embedded.Pass})
	require.NoError(t, err)
	got := make(chan error, 1)
	go func() { got <- zk.NewLock(waiter.Conn, "/lock", worldACL).Lock() }()
	awaitHit(t, waits)
	require.NoError(t, s.Expire(holder.SessionID()))
	require.NoError(t, <-got)
}
