package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPaceWithoutAnswers: servers that answer nothing are not sent more for it, however many requests wait for them.
func TestPaceWithoutAnswers(t *testing.T) {
	c := New(0)
	connection := c.Connecting(at(0), 0)
	c.Connected(at(1), connection, 24*time.Second)
	now := at(2)
	for xid := range int32(maxFlights + 10) {
		c.Sending(now, connection, xid, Committed)
	}
	due, committed, some := c.Next(Leased)
	require.True(t, some)
	require.Equal(t, now+Fraction(24*time.Second, lastingPace), due)
	require.False(t, committed)

	c.Sending(due, connection, -1, Ordered)
	next, _, _ := c.Next(Leased)
	require.Equal(t, due+Fraction(24*time.Second, lastingPace), next, "not over and over")
}

// TestLastsUntilItIsKnown: a chain that nothing has been proved by yet lasts, until it is broken.
func TestLastsUntilItIsKnown(t *testing.T) {
	c := New(0)
	connection := c.Connecting(at(0), 0)
	require.True(t, c.Lasts(at(0)))
	c.Connected(at(1), connection, 24*time.Second)
	c.Lost(at(2))
	require.True(t, c.Lasts(at(2)))
	require.False(t, c.Lasts(at(2000)))
}
