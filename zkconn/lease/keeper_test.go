package lease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const session = 40 * time.Second

// TestStaleConnectionIsNoEvidence: an answer of the connection before the newest extends nothing.
func TestStaleConnectionIsNoEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper(nil, 0, true, new(Shortest))
		old, next := k.Open(), k.Open()
		old.Connecting()
		old.Connected(session)
		old.Sending(1, Committed, true)
		next.Connecting()
		old.Replied(1, true)
		require.False(t, k.Clock.Valid())
		next.Connected(session)
		time.Sleep(session / 24)
		next.Sending(1, Committed, true)
		next.Replied(1, true)
		require.True(t, k.Clock.Valid())
	})
}

// TestShortTimeoutThatMayArriveLate: a connect request without an answer may reach the leader much later, with the timeout
// of the server that got it. From then on the session counts on no more.
func TestShortTimeoutThatMayArriveLate(t *testing.T) {
	k := NewKeeper(nil, 0, true, new(Shortest))
	first, lost, next := k.Open(), k.Open(), k.Open()
	first.Connecting()
	require.Equal(t, session, first.Connected(session))
	k.granted.note(4 * time.Second) // in another session, of the same servers
	lost.Connecting()
	next.Connecting()
	require.Equal(t, 4*time.Second, next.Connected(session))
}

// TestSilence: it lasts from the first request after the newest answer to the next answer.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper(nil, 0, true, new(Shortest))
		c := k.Open()
		c.Connecting()
		time.Sleep(time.Second)
		require.Equal(t, time.Second, k.Silence(), "no server was heard of yet")
		c.Connected(session)
		time.Sleep(time.Second)
		require.Zero(t, k.Silence(), "nothing is waited for")
		c.Sending(1, Committed, true)
		time.Sleep(time.Second)
		c.Sending(2, Local, true)
		time.Sleep(time.Second)
		require.Equal(t, 2*time.Second, k.Silence())
		c.Replied(1, true)
		require.Zero(t, k.Silence())
	})
}
