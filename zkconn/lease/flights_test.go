package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Requests whose answers never come, or come out of turn, leave nothing behind. Those beyond the bound are no evidence.
func TestFlightsAreForgotten(t *testing.T) {
	c := New(0)
	connection := c.Connecting(0, 0)
	c.Connected(at(1), connection, 24*time.Second)
	for xid := range int32(maxFlights + 10) {
		c.Sending(at(2), connection, xid, Committed)
	}
	require.Len(t, c.flights, maxFlights)

	c.Replied(at(3), connection, maxFlights+3, true)
	_, leased := c.Lease()
	require.False(t, leased, "it was not followed")
	require.Len(t, c.flights, maxFlights)

	c.Replied(at(3), connection, maxFlights-2, true)
	require.Len(t, c.flights, 1, "answers come in order: those before it have none any more")
	require.Equal(t, int32(maxFlights-1), c.flights[0].xid)
	c.Replied(at(4), connection, 7, true)
	require.Len(t, c.flights, 1, "nor does one that comes late take anything away")

	c.Lost(at(5))
	require.Empty(t, c.flights)
}
