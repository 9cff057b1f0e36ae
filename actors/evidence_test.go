package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestWhoGivesUpNeedsNoEvidence: a waiter looks for its node until there is evidence for a grant. One that gives up is told
// at once that its node is there, so that it is deleted: on a slow network the evidence may never come.
func TestWhoGivesUpNeedsNoEvidence(t *testing.T) {
	a := newAlone(t, 1)
	a.setLease(&lease{epoch: 1, session: 1, timeout: time.Hour, clock: zkconn.NewLeaseClock(nil)}) // over
	c, heard := a.contend(nodeName(1))
	found := own{node: nodeName(1), czxid: 7, beat: beat{sent: time.Now()}}
	taken := make(chan struct{})
	takes := a.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if o, ok := ctx.Message().(*order); ok {
			a.take(ctx, o)
			taken <- struct{}{}
		}
	}))
	verify := func(op uint64, ending bool) {
		o := &order{Effect: machine.Effect{Do: machine.Verify, Op: op, Ending: ending}, spec: c.spec}
		a.system.Root.RequestWithCustomSender(takes, o, c.lock)
		<-taken
		a.verified(c, op, found, nil)
	}
	verify(1, false)
	a.quiet(t, c, heard)
	verify(2, true)
	ev := <-heard
	require.Equal(t, machine.Found, ev.Kind)
	require.EqualValues(t, 2, ev.Op)
}
