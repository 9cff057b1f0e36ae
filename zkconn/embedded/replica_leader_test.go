package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// epoch is the part of a zxid that a new leader raises.
func epoch(zxid int64) int64 { return zxid >> 32 }

// When the leader is cut off the others choose another, in a new epoch: its zxids are greater than
// all before, and fencing tokens are made of zxids. Their clients are dropped and keep their
// sessions.
func TestCutOffLeaderIsReplaced(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	old := s.Leader()
	i, j := leader(t, s), followers(s)[0]
	inside, outside := openRaw(t, s, i, time.Minute), openRaw(t, s, j, time.Minute)
	outside.create("/e", ephemeral)
	before := outside.call(embedded.OpPing).zxid
	require.Equal(t, int64(1), epoch(before))

	old.CutOff()
	require.NotNil(t, s.Leader())
	require.NotSame(t, old, s.Leader())
	outside.closed()
	inside.ping()
	again := dialRaw(t, s, j)
	require.True(t, again.resume(outside))
	again.create("/new", plain)
	require.Equal(t, int64(2)<<32+1, again.stat("/new").czxid)
	require.True(t, again.exists("/e"))

	for range 3 { // to and fro: it grows each time
		s.Leader().CutOff()
		require.Nil(t, s.Leader(), "one of three is no majority")
		old.Rejoin()
		require.NotNil(t, s.Leader())
		for _, r := range s.Replicas() {
			r.Rejoin()
		}
		old = s.Leader()
		old.CutOff()
	}
	last := openRaw(t, s, leader(t, s), time.Minute)
	require.Equal(t, int64(8), epoch(last.call(embedded.OpPing).zxid))
	require.True(t, last.exists("/new"))
}

// A leader that is cut off does not know: it answers reads, pings and even sync from what it had. Only
// writes wait, and none of them is ever carried out.
func TestCutOffLeaderDoesNotKnow(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	old, i := s.Leader(), leader(t, s)
	reader, syncer, writer, closer := openRaw(t, s, i, time.Minute), openRaw(t, s, i, time.Minute), openRaw(t, s, i, time.Minute), openRaw(t, s, i, time.Minute)
	reader.create("/old", plain)
	old.CutOff()
	outside := openRaw(t, s, leader(t, s), time.Minute)
	outside.delete("/old")
	outside.create("/new", plain)

	reader.ping()
	r := syncer.call(embedded.OpSync, "/old").must()
	require.Equal(t, "/old", r.text())
	for _, c := range []*rawClient{reader, syncer} {
		require.True(t, c.exists("/old"))
		require.False(t, c.exists("/new"))
	}
	written := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Path: "/lost"})
	writer.write(writer.request(embedded.OpCreate, createOf("/lost", plain)), writer.request(embedded.OpPing))
	ended := inject(t, s, embedded.Fault{Op: embedded.OpCloseSession})
	closer.send(embedded.OpCloseSession)
	require.NoError(t, written.Wait(t.Context()))
	require.NoError(t, ended.Wait(t.Context()))
	reader.ping()
	writer.quiet()
	closer.quiet()
	require.False(t, outside.exists("/lost"))

	old.Rejoin()
	for _, c := range []*rawClient{reader, syncer, writer, closer} {
		c.closed()
	}
	require.NotSame(t, old, s.Leader(), "it has nothing that would make it the leader")
	again := dialRaw(t, s, i)
	require.True(t, again.resume(reader))
	require.Equal(t, []bool{false, true, false}, []bool{again.exists("/old"), again.exists("/new"), again.exists("/lost")})
	require.Contains(t, s.Sessions(), closer.session)
}

// Sessions whose clients are on the wrong side of a leader that was cut off expire under the new one, which
// gives them their full time from its election on.
func TestCutOffLeadersSessionsExpire(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i := leader(t, s)
	inside := openRaw(t, s, i, 10*time.Second)
	inside.create("/lock", ephemeral)
	clock.Advance(9 * time.Second)
	s.Leader().CutOff()
	outside := openRaw(t, s, leader(t, s), time.Minute)
	inside.ping()
	clock.Advance(9900 * time.Millisecond)
	require.True(t, outside.exists("/lock"))
	inside.ping()
	clock.Advance(100 * time.Millisecond)
	require.False(t, outside.exists("/lock"))
	inside.call(embedded.OpSync, "/").must()
	require.True(t, inside.exists("/lock"), "an acknowledged sync is no evidence either")
}

// Without a majority nobody is served: connections are closed, and new ones refused. Time stands still for
// sessions. When the majority is back, so are they.
func TestNoMajority(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	i, j := followers(s)[0], followers(s)[1]
	lead := leader(t, s)
	c := openRaw(t, s, lead, 10*time.Second)
	c.create("/e", ephemeral)
	s.Replica(i).Stop()
	c.ping()
	s.Replica(j).Stop()
	require.Nil(t, s.Leader())
	c.closed()
	refused := dialRaw(t, s, lead)
	require.False(t, refused.resume(c))
	require.ErrorContains(t, s.Expire(c.session), "no leader")
	_, err := s.Dialer()("tcp", s.Replica(i).Addr(), 0)
	require.Error(t, err)
	clock.Advance(time.Hour)
	require.Equal(t, []int64{c.session}, s.Sessions())

	require.NoError(t, s.Replica(i).Start())
	require.NotNil(t, s.Leader())
	again := dialRaw(t, s, i)
	require.True(t, again.resume(c))
	require.True(t, again.exists("/e"))
	again.delete("/e")
}

// Two of three that are cut off leave one, which serves nobody; each of the two still believes what it had.
func TestTwoCutOff(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	all := []*rawClient{openRaw(t, s, 0, time.Minute), openRaw(t, s, 1, time.Minute), openRaw(t, s, 2, time.Minute)}
	first, i := s.Leader(), leader(t, s)
	first.CutOff()
	second, j := s.Leader(), leader(t, s)
	fresh := dialRaw(t, s, j)
	require.True(t, fresh.resume(all[j]))
	fresh.create("/second", plain)
	second.CutOff()
	require.Nil(t, s.Leader())
	all[i].call(embedded.OpSync, "/").must()
	fresh.call(embedded.OpSync, "/").must()
	require.False(t, all[i].exists("/second"))
	require.True(t, fresh.exists("/second"))

	first.Rejoin()
	require.NotNil(t, s.Leader())
	require.NotSame(t, first, s.Leader(), "the third has what the second had committed")
	c := openRaw(t, s, i, time.Minute)
	require.True(t, c.exists("/second"))
	c.create("/third", plain)
	require.Equal(t, int64(3), epoch(c.stat("/third").czxid))
	second.Rejoin()
	require.True(t, openRaw(t, s, j, time.Minute).exists("/third"))
}
