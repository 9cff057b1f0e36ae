package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A leader that pauses for less than the sync limit goes on as if nothing had been; what was asked
// of it meanwhile is done then. Sessions whose time has run out end before it reads what was sent
// to it.
func TestLeaderPauses(t *testing.T) {
	s, clock := frozen(t, append(threeReplicas, embedded.WithSyncLimit(20))...)
	i, lead := followers(s)[0], s.Leader()
	inside, direct := openRaw(t, s, i, time.Minute), openRaw(t, s, leader(t, s), time.Second)
	clock.Advance(30 * time.Millisecond)
	lead.Pause()
	lead.Pause()
	require.False(t, s.Committing())
	inside.send(embedded.OpCreate, createOf("/a", plain))
	direct.send(embedded.OpPing)
	clock.Advance(1500 * time.Millisecond)
	inside.quiet()
	direct.quiet()
	require.Len(t, s.Sessions(), 2, "a leader that is paused ends no session")
	lead.Resume()
	lead.Resume()
	require.Same(t, lead, s.Leader())
	inside.reply().must()
	require.Equal(t, []int64{inside.session}, s.Sessions())
	require.True(t, inside.exists("/a"))
}

// After the sync limit the others go on with a leader of their own. The old one learns it half a
// tick after it goes on.
func TestPausedLeaderIsReplaced(t *testing.T) {
	for _, killed := range []bool{false, true} {
		s, clock := frozen(t, threeReplicas...)
		i, lead, number := followers(s)[0], s.Leader(), leader(t, s)
		inside, direct := openRaw(t, s, i, time.Minute), openRaw(t, s, number, time.Minute)
		lead.Pause()
		clock.Advance(700 * time.Millisecond)
		require.NotSame(t, lead, s.Leader())
		inside.closed()
		direct.quiet()
		again := dialRaw(t, s, i)
		require.True(t, again.resume(inside))
		again.create("/a", plain)
		if killed {
			lead.Stop()
			direct.closed()
			require.NoError(t, lead.Start())
		} else {
			lead.Resume()
			direct.ping()
			require.False(t, direct.exists("/a"), "it answers from what it has")
			direct.call(embedded.OpSync, "/").must()
			clock.Advance(60 * time.Millisecond)
			direct.closed()
		}
		back := dialRaw(t, s, number)
		require.True(t, back.resume(direct))
		require.True(t, back.exists("/a"))
	}
}

// A leader that is killed while it is paused is replaced at once.
func TestPausedLeaderIsKilled(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	lead := s.Leader()
	lead.Pause()
	lead.Stop()
	require.NotSame(t, lead, s.Leader())
	require.True(t, s.Committing())
}

// A follower that pauses goes on where it was, or without its clients when the others have given it
// up.
func TestFollowerPauses(t *testing.T) {
	for _, long := range []bool{false, true} {
		s, clock := frozen(t, threeReplicas...)
		i := followers(s)[0]
		inside, outside := openRaw(t, s, i, time.Minute), openRaw(t, s, leader(t, s), time.Minute)
		s.Replica(i).Pause()
		outside.create("/a", plain)
		inside.send(embedded.OpExists, "/a", false)
		clock.Advance(300 * time.Millisecond)
		if long {
			clock.Advance(400 * time.Millisecond)
		}
		inside.quiet()
		s.Replica(i).Resume()
		if long {
			inside.closed()
			clock.Advance(50 * time.Millisecond)
			require.True(t, dialRaw(t, s, i).resume(inside))
			continue
		}
		inside.reply().must()
	}
}

// A client's requests may be kept from a replica, which then hears nothing of them, and be read later.
func TestHoldRequests(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Second)
	s.Replica(0).HoldRequests()
	c.send(embedded.OpCreate, createOf("/a", plain))
	fresh := dialRaw(t, s, 0)
	fresh.greet(0, time.Second, 0, make([]byte, 16))
	gone := dialRaw(t, s, 0)
	gone.greet(0, time.Second, 0, make([]byte, 16))
	gone.leave()
	clock.Advance(600 * time.Millisecond)
	require.Equal(t, time.Second, due(t, s, c))
	c.quiet()
	s.Replica(0).ReleaseRequests()
	c.reply().must()
	require.True(t, fresh.welcomed())
	require.Equal(t, 1600*time.Millisecond, due(t, s, c))
}
