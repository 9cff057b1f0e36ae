package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A connection that never asks for a session is closed after ten seconds, so that nobody keeps one
// for nothing. Half a handshake does not count, nor does half a four-letter word.
func TestConnectionWithoutHandshakeIsClosed(t *testing.T) {
	s, clock := frozen(t)
	mute, half, word := dialRaw(t, s, 0), dialRaw(t, s, 0), dialRaw(t, s, 0)
	_, err := half.stream.Write([]byte{0, 0, 0, 45, 0})
	require.NoError(t, err)
	_, err = word.stream.Write([]byte("ru"))
	require.NoError(t, err)
	clock.Advance(10*time.Second - 1)
	mute.quiet()
	half.quiet()
	word.quiet()
	require.True(t, dialRaw(t, s, 0).open(time.Minute), "a later one is not concerned")
	clock.Advance(1)
	mute.closed()
	half.closed()
	word.closed()
	require.Len(t, s.Sessions(), 1)
}

// A connection is closed when it has been silent for its session's timeout. The session has its own clock:
// what another connection did for it counts, and it lives on.
func TestSilentConnectionIsClosed(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	follower := followers(s)[0]
	silent := openRaw(t, s, follower, time.Second)
	clock.Advance(500 * time.Millisecond)
	moved := dialRaw(t, s, followers(s)[1])
	require.True(t, moved.resume(silent))
	clock.Advance(400 * time.Millisecond)
	silent.quiet()
	clock.Advance(100 * time.Millisecond)
	silent.closed()
	require.Len(t, s.Sessions(), 1)
	moved.ping()
	clock.Advance(time.Second)
	moved.closed()
	require.Len(t, s.Sessions(), 1, "the leader heard of that ping a little later")
	clock.Advance(100 * time.Millisecond)
	require.Empty(t, s.Sessions())
}

// A connection's time of silence begins with its handshake, not with its being opened: a client that is
// slow to greet has its full timeout then.
func TestSilenceCountsFromTheHandshake(t *testing.T) {
	s, clock := frozen(t)
	slow := dialRaw(t, s, 0)
	clock.Advance(9 * time.Second)
	require.True(t, slow.open(2*time.Second))
	clock.Advance(1900 * time.Millisecond)
	slow.ping()
	require.Len(t, s.Sessions(), 1)
}

// A session lives for its timeout without any connection, and its ephemeral nodes with it.
func TestSessionOutlivesItsConnection(t *testing.T) {
	s, clock := frozen(t)
	watcher := openRaw(t, s, 0, time.Minute)
	gone := openRaw(t, s, 0, 10*time.Second)
	gone.create("/e", ephemeral)
	gone.leave()
	clock.Advance(9900 * time.Millisecond)
	require.True(t, watcher.exists("/e"))
	clock.Advance(100 * time.Millisecond)
	require.False(t, watcher.exists("/e"))
}
