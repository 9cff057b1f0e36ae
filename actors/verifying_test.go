package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// sentBy is the context of a message that an actor has sent.
type sentBy struct {
	actor.Context
	sender *actor.PID
}

func (s sentBy) Sender() *actor.PID { return s.sender }

// looksFor has a contender's node looked for and found, with a lease that is over. The order comes as the lock actor
// sends it.
func looksFor(a *aloneSession, c *contender, op uint64, ending bool) {
	a.take(sentBy{sender: c.lock}, &order{
		Effect: machine.Effect{Do: machine.Verify, Op: op, Ending: ending}, spec: c.spec, epoch: 1})
	a.verified(c, op, own{node: c.node, czxid: 7, beat: beat{sent: time.Now()}}, nil)
}

// leaseless is newAlone with a lease that is over, though the servers answer.
func leaseless(t *testing.T) *aloneSession {
	t.Helper()
	a := newAlone(t, 1)
	a.lease.clock = zkconn.NewLeaseClock(nil)
	return a
}

// TestNodeThatIsToGoNeedsNoEvidence: a request that was given up is told at once that its node is there, so that it
// deletes it: others wait behind. One that goes on waiting needs evidence of the lease first.
func TestNodeThatIsToGoNeedsNoEvidence(t *testing.T) {
	a := leaseless(t)
	c, heard := a.contend(nodeName(1))
	looksFor(a, c, 5, false)
	a.quiet(t, c, heard)
	looksFor(a, c, 6, true)
	a.tell(c.lock, machine.Event{Kind: machine.Begin}) // which comes behind what it was told
	ev := <-heard
	require.Equal(t, machine.Found, ev.Kind)
	require.EqualValues(t, 6, ev.Op)
	require.Equal(t, nodeName(1), ev.Node)
}

// TestLookForEvidenceIsVoid once the contender has gone on: a look that nobody waits for could find a holder's node gone,
// and nobody would tell it.
func TestLookForEvidenceIsVoid(t *testing.T) {
	for name, c := range map[string]struct {
		comes func(a *aloneSession, c *contender)
		looks bool
	}{
		"nothing comes":              {func(*aloneSession, *contender) {}, true},
		"a newer look":               {func(a *aloneSession, c *contender) { a.verify(c, 6) }, false},
		"a create, and it holds":     {func(a *aloneSession, c *contender) { a.create(c, 6); c.creates = 0; a.grantedTo(c) }, false},
		"its lock actor ends":        {func(a *aloneSession, c *contender) { a.abandoned(c.lock) }, false},
		"the connection is lost":     {func(a *aloneSession, _ *contender) { a.down(zkconn.Event{}) }, false},
		"it is given back and rests": {func(_ *aloneSession, c *contender) { c.verifies = 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := leaseless(t)
			own, _ := a.contend(nodeName(1))
			looksFor(a, own, 5, false)
			c.comes(a, own)
			asked := a.asked
			a.verifyAgain(own, 5)
			require.Equal(t, c.looks, a.asked > asked)
			require.Empty(t, a.parked)
		})
	}
}
