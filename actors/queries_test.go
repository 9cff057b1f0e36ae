package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestOwnNodesThatAreUnused: nobody holds or waits with them any more, because they are retained or are being deleted.
func TestOwnNodesThatAreUnused(t *testing.T) {
	token, err := messages.NewToken(7, 0)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		with   func(a *aloneSession, c *contender)
		unused bool
	}{
		"held":              {func(*aloneSession, *contender) {}, false},
		"of another":        {func(a *aloneSession, c *contender) { a.strike(c); a.setLease(&lease{epoch: 1, session: 9}) }, false},
		"retained":          {func(a *aloneSession, c *contender) { a.remove(c, giveBackOf(c)) }, true},
		"given back":        {func(a *aloneSession, c *contender) { c.spec.sticky = 0; a.remove(c, giveBackOf(c)) }, true},
		"being cleaned up":  {func(a *aloneSession, c *contender) { a.abandoned(c.lock) }, true},
		"nobody's any more": {func(a *aloneSession, c *contender) { a.strike(c) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			own, _ := a.contend("")
			own.spec.sticky = time.Hour
			a.have(own, nodeName(1), 1, token)
			own.granted = true
			c.with(a, own)
			require.Equal(t, c.unused, a.unused(messages.Contender{Path: "/p", Node: nodeName(1), Session: 1}))
		})
	}
}

func giveBackOf(c *contender) machine.Effect {
	return machine.Effect{Do: machine.GiveBack, Op: 1, Node: c.node}
}
