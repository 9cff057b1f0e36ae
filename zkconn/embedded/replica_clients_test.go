package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A replica that holds its replies carries requests out all the same; what it would have sent, events and
// greetings too, comes in its order when it is released. Other replicas are not concerned.
func TestReplicaHoldReplies(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	held, witness := openRaw(t, s, 0, time.Minute), openRaw(t, s, 1, time.Minute)
	held.call(embedded.OpExists, "/w", true)
	s.Replica(0).HoldReplies()
	s.Replica(0).HoldReplies() // twice is once

	created := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Path: "/a"})
	held.send(embedded.OpCreate, createOf("/a", plain))
	require.NoError(t, created.Wait(t.Context()))
	require.True(t, witness.exists("/a"))
	witness.create("/w", plain)
	late := dialRaw(t, s, 0)
	late.greet(0, time.Minute, 0, make([]byte, 16))
	until(t, func() bool { return len(s.Sessions()) == 3 })
	held.quiet()
	late.quiet()

	s.Replica(0).ReleaseReplies()
	require.Equal(t, held.xid, held.reply().must().xid)
	require.Equal(t, "created /w", held.event())
	require.True(t, late.welcomed())
	late.ping()
	s.Replica(0).ReleaseReplies() // nothing is held, and nothing is owed
	held.ping()
}

// A replica that refuses takes no new connections, in memory or from the network, and keeps the old ones.
func TestReplicaRefuse(t *testing.T) {
	clock := embedded.NewManualClock(noon)
	s := embedded.Run(t, embedded.WithClock(clock), embedded.WithReplicas(3))
	old := openRaw(t, s, 0, time.Minute)
	s.Replica(0).Refuse(true)
	_, err := s.Dialer()("tcp", s.Replica(0).Addr(), patience)
	require.ErrorContains(t, err, "refused")
	overNetwork(t, s.Replica(0).Addr()).closed()
	old.create("/a", plain)
	require.True(t, openRaw(t, s, 1, time.Minute).exists("/a"))
	s.Replica(0).Refuse(false)
	require.True(t, openRaw(t, s, 0, time.Minute).exists("/a"))
	network := overNetwork(t, s.Replica(0).Addr())
	require.True(t, network.open(time.Minute))
	require.True(t, network.exists("/a"))
}

// DropClients closes every connection of one replica, once: sessions live, and new connections are taken.
func TestReplicaDropClients(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	one, two, elsewhere := openRaw(t, s, 0, time.Minute), openRaw(t, s, 0, time.Minute), openRaw(t, s, 1, time.Minute)
	unborn := dialRaw(t, s, 0)
	s.Replica(0).DropClients()
	one.closed()
	two.closed()
	unborn.closed()
	elsewhere.ping()
	require.Len(t, s.Sessions(), 3)
	again := dialRaw(t, s, 0)
	require.True(t, again.resume(one))
	again.ping()
}

// Only the server's own addresses are reached through its dialer.
func TestDialerKnowsItsReplicasOnly(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	for _, r := range s.Replicas() {
		stream, err := s.Dialer()("tcp", r.Addr(), 0)
		require.NoError(t, err)
		require.NoError(t, stream.Close())
	}
	_, err := s.Dialer()("tcp", "127.0.0.1:1", 0)
	require.ErrorContains(t, err, "no replica at 127.0.0.1:1")
}
