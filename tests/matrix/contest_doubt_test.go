package matrix

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// contestInDoubt: the first of two requests of one session has made the node of a contest, and the
// reply is lost. When the connection is back both look at the node: the first for its own, the
// second because it asks for it. By then a revoke request may have replaced its data, so that they
// do not name its maker: then that follows from which request cannot have made it.
func contestInDoubt(data []byte) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		made := c.strike(t, embedded.Fault{Path: ownedPath, Session: session(c.ours), Action: embedded.CutAfter})
		c.refuse(true)
		first := c.own(t, messages.Acquire{Mode: messages.Contest})
		require.NoError(t, made.Wait(patient(t)))
		synctest.Wait()
		first.reaches(t, messages.StateRecovering)
		if data != nil {
			_, err := c.operator.Set(ownedPath, data, -1)
			require.NoError(t, err)
		}
		second := c.stands(t, c.ours, messages.Acquire{Path: ownedPath, Mode: messages.Contest, Owner: "another"})
		synctest.Wait()
		c.refuse(false)
		for _, o := range []*owned{first, second} {
			o.reaches(t, messages.StateHeld)
			o.send(&messages.Release{})
			o.reaches(t, messages.StateReleased)
		}
	}
}

// TestContestInDoubt: the first holds then, and the second after it.
func TestContestInDoubt(t *testing.T) {
	const outcome = "the first finds that the node is its own, and holds; the second holds when it is gone"
	testPlots(t, []plot{
		{name: "its data say whose it is", outcome: outcome, play: contestInDoubt(nil)},
		{name: "somebody has asked for the lock", outcome: outcome, play: contestInDoubt([]byte("unlock"))},
		{name: "somebody has written something else", outcome: outcome, play: contestInDoubt([]byte{})},
	})
}
