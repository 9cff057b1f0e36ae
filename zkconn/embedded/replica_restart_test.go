package embedded_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Each replica in turn is stopped and started: the data and the sessions stay, clients go over to the
// others, and what was committed meanwhile is there afterwards. Zxids only grow.
func TestReplicasRestartInTurn(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	c := openRaw(t, s, 0, time.Minute)
	c.create("/e", ephemeral)
	last := int64(0)
	for i := range 9 {
		down := i % 3
		s.Replica(down).Stop()
		s.Replica(down).Stop()
		_, err := s.Dialer()("tcp", s.Replica(down).Addr(), 0)
		require.ErrorContains(t, err, "refused")
		next := dialRaw(t, s, (down+1)%3)
		require.True(t, next.resume(c))
		path := next.create("/n-", sequential)
		zxid := next.stat(path).czxid
		require.Greater(t, zxid, last)
		last = zxid
		require.NoError(t, s.Replica(down).Start())
		require.NoError(t, s.Replica(down).Start())
		back := dialRaw(t, s, down)
		require.True(t, back.resume(next))
		require.Equal(t, zxid, back.stat(path).czxid)
		require.GreaterOrEqual(t, back.call(embedded.OpPing).zxid, last)
		c = back
	}
	require.True(t, c.exists("/e"))
	require.Len(t, s.Sessions(), 1)
	require.Len(t, c.children("/"), 11)
}

// The whole ensemble may stop and start, in any order: it has a leader from the second of three on, and
// nothing that was committed is lost, least of all by a replica that missed the end.
func TestAllReplicasRestart(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		s, clock := frozen(t, threeReplicas...)
		c, gone := openRaw(t, s, order[2], 10*time.Second), openRaw(t, s, order[2], 10*time.Second)
		c.create("/kept", ephemeral)
		gone.create("/gone", ephemeral)
		s.Replica(order[0]).Stop() // the first has missed the next
		if s.Replica(order[2]) == s.Leader() {
			c.ping() // its clients stay
		} else {
			again := dialRaw(t, s, order[2])
			require.True(t, again.resume(c))
			c = again
		}
		zxid := c.stat(c.create("/late", plain)).czxid
		s.Replica(order[1]).Stop()
		s.Replica(order[2]).Stop()
		c.closed()
		clock.Advance(time.Hour)

		require.NoError(t, s.Replica(order[0]).Start())
		require.Nil(t, s.Leader())
		require.NoError(t, s.Replica(order[1]).Start())
		require.Same(t, s.Replica(order[1]), s.Leader(), "it has the newest")
		require.NoError(t, s.Replica(order[2]).Start())
		clock.Advance(9 * time.Second)
		again := dialRaw(t, s, order[0])
		again.greet(zxid, c.timeout, c.session, c.password)
		require.True(t, again.welcomed())
		require.True(t, again.exists("/gone"), "its session has time until a timeout after the election")
		clock.Advance(time.Second)
		require.False(t, again.exists("/gone"), "it did not come back in time")
		require.True(t, again.exists("/kept"))
		require.Greater(t, again.stat(again.create("/new", plain)).czxid, zxid)
		require.Equal(t, []int64{c.session}, s.Sessions())
	}
}

// A server alone keeps everything over Stop and Start: data, sessions, zxids, and its port.
func TestStandaloneRestart(t *testing.T) {
	clock := embedded.NewManualClock(noon)
	s := embedded.Run(t, embedded.WithClock(clock))
	addr := s.Addr()
	c := overNetwork(t, addr)
	require.True(t, c.open(10*time.Second))
	c.create("/e", ephemeral)
	before := c.stat("/e")
	for range 5 {
		s.Replica(0).Stop()
		c.closed()
		require.Nil(t, s.Leader())
		clock.Advance(time.Hour)
		require.NoError(t, s.Replica(0).Start())
		require.Equal(t, addr, s.Addr())
		again := overNetwork(t, addr)
		again.greet(before.czxid, c.timeout, c.session, c.password)
		require.True(t, again.welcomed())
		require.Equal(t, before, again.stat("/e"))
		require.Equal(t, before.czxid, again.call(embedded.OpPing).zxid, "starting takes no zxid")
		c = again
	}
	require.Equal(t, before.czxid+1, c.stat(c.create("/f", plain)).czxid)
	s.Replica(0).Stop()
	require.NoError(t, s.Replica(0).Start())
	clock.Advance(10 * time.Second)
	require.Empty(t, s.Sessions())
	require.False(t, openRaw(t, s, 0, time.Minute).exists("/e"))
}

// A port that another has taken in the meantime is an error of Start, and not a server nobody reaches.
func TestRestartOnATakenPort(t *testing.T) {
	s := embedded.Run(t)
	s.Replica(0).Stop()
	other := embedded.Run(t, embedded.WithListen(s.Addr()))
	require.Equal(t, s.Addr(), other.Addr())
	require.ErrorContains(t, s.Replica(0).Start(), "in use")
	require.Nil(t, s.Leader())
	other.Close()
	require.NoError(t, s.Replica(0).Start())
	require.NotNil(t, s.Leader())
	_, err := embedded.Start(embedded.WithListen(s.Addr()))
	require.ErrorContains(t, err, "in use")
}

// Replicas may be stopped, started, cut off and asked from several goroutines at once.
func TestReplicasControlledAtOnce(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 100 {
				r := s.Replica((worker + i) % 3)
				switch (worker*7 + i) % 6 {
				case 0:
					r.Stop()
				case 1:
					if err := r.Start(); err != nil {
						t.Error(err)
					}
				case 2:
					r.CutOff()
				case 3:
					r.Rejoin()
				case 4:
					_ = r.Lag()
				default:
					if stream, err := s.Dialer()("tcp", r.Addr(), 0); err == nil {
						_ = stream.Close()
					}
				}
			}
		})
	}
	all.Wait()
	for _, r := range s.Replicas() {
		require.NoError(t, r.Start())
		r.Rejoin()
	}
	require.NotNil(t, s.Leader())
	openRaw(t, s, 0, time.Minute).create("/a", plain)
}

// The same for a server with a port, whose address is asked for meanwhile.
func TestServerControlledAtOnce(t *testing.T) {
	s := embedded.Run(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				s.Replica(0).Stop()
				_ = s.Replica(0).Start() // the port may just be closing
				_, _ = s.Addr(), s.Connect()
			}
		})
	}
	all.Wait()
	require.NoError(t, s.Replica(0).Start())
	openRaw(t, s, 0, time.Minute).create("/a", plain)
}
