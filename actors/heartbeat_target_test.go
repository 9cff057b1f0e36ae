package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// Heartbeats check the nodes of all holders in turn, and those of others only while nobody holds.
func TestHeartbeatsTakeTurns(t *testing.T) {
	a := newAlone(t, 1)
	for n := range 4 {
		c, _ := a.contend(nodeName(n))
		c.token, c.granted = messages.Token(n+1), n < 3
	}
	var checked []messages.Token
	for range 6 {
		checked = append(checked, a.target().token)
		a.beatNow()
	}
	require.Equal(t, []messages.Token{1, 2, 3, 1, 2, 3}, checked)
	for _, c := range a.contenders {
		c.gone = c.granted
	}
	require.EqualValues(t, 4, a.target().token)
}
