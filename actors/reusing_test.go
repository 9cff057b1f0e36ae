package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// asksForRetained leaves a node that nobody holds, and has a contender ask for it: the check is
// under way.
func asksForRetained(t *testing.T, a *aloneSession) (c *contender, heard <-chan machine.Event, r *rest) {
	t.Helper()
	old, oldHeard := holdsSticky(t, a)
	a.remove(old, machine.Effect{Do: machine.GiveBack, Op: 1, Node: old.node})
	require.Equal(t, machine.Deleted, (<-oldHeard).Kind)
	a.abandoned(old.lock)
	c, heard = a.contend("")
	asked := a.asked
	a.create(c, 1)
	require.Equal(t, asked+1, a.asked, "the check")
	a.quiet(t, c, heard)
	return c, heard, a.resting[c.queue()]
}

// TestReuseNeedsEvidence: a retained node is reused when a transaction has found it, and let go on
// any other answer.
func TestReuseNeedsEvidence(t *testing.T) {
	for name, answer := range map[string]struct {
		err    error
		reused bool
	}{
		"found":             {nil, true},
		"not to be read":    {zkconn.ErrNoAuth, true},
		"gone":              {zkconn.ErrNoNode, false},
		"nobody knows":      {zkconn.ErrUnknownOutcome, false},
		"not sent":          {zkconn.ErrUnavailable, false},
		"refused by itself": {zkconn.ErrRefused, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			c, heard, r := asksForRetained(t, a)
			asked := a.asked
			a.checked(r, c, beat{time.Now(), answer.err})
			if !answer.reused {
				require.Equal(t, asked+2, a.asked, "the delete of what may be left, and the create")
				a.quiet(t, c, heard)
				require.Empty(t, c.node)
				return
			}
			token, err := messages.NewToken(7, 1)
			require.NoError(t, err)
			require.Equal(t, machine.Event{Kind: machine.Created, Op: 1, Node: nodeName(1), Token: token, Alone: true}, <-heard)
			require.Len(t, a.contenders, 1, "who had it before is forgotten")
			require.Equal(t, asked, a.asked-1, "a heartbeat")
		})
	}
}

// TestReuseIsOvertaken: what comes between the check and its answer decides, and the answer changes
// nothing then.
func TestReuseIsOvertaken(t *testing.T) {
	for name, c := range map[string]struct {
		comes func(*aloneSession, *contender)
		asked int  // requests that it leads to
		rests bool // the node rests on
	}{
		"the node is deleted": {func(a *aloneSession, _ *contender) {
			a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDeleted, Path: "/p/" + nodeName(1)})
		}, 2, false},
		"the lock path is deleted": {func(a *aloneSession, _ *contender) {
			a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDeleted, Path: "/p"})
		}, 2, false},
		"the lock is asked back": {func(a *aloneSession, _ *contender) {
			a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDataChanged, Path: "/p/" + nodeName(1)})
		}, 2, false},
		"a heartbeat finds the node gone": {func(a *aloneSession, c *contender) {
			old := a.resting[c.queue()].contender
			a.beaten(old, old.node, beat{time.Now(), zkconn.ErrNoNode}, a.beatRun)
		}, 2, false},
		"it is withdrawn": {func(a *aloneSession, c *contender) {
			a.withdraw(c, &order{Effect: machine.Effect{Do: machine.Withdraw, Op: 1}})
		}, 0, true},
		"its lock actor ends": {func(a *aloneSession, c *contender) { a.abandoned(c.lock) }, 0, true},
		"it is withdrawn when somebody has come": {func(a *aloneSession, c *contender) {
			a.nodeEvent(zkconn.Event{Kind: zkconn.NodeChildrenChanged, Path: "/p"})
			a.withdraw(c, &order{Effect: machine.Effect{Do: machine.Withdraw, Op: 1}})
		}, 1, false},
		"the connection is lost": {func(a *aloneSession, _ *contender) { a.down(zkconn.Event{}) }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			asks, _, r := asksForRetained(t, a)
			asked := a.asked
			c.comes(a, asks)
			require.Equal(t, c.asked, a.asked-asked)
			a.checked(r, asks, beat{sent: time.Now()})
			require.Equal(t, c.asked, a.asked-asked)
			require.Empty(t, asks.node)
			require.Equal(t, c.rests, a.resting[asks.queue()] != nil)
		})
	}
}

// TestOneCheckForOneRequest: a check that was sent for one request says nothing to one that came
// later.
func TestOneCheckForOneRequest(t *testing.T) {
	a := newAlone(t, 1)
	first, _, r := asksForRetained(t, a)
	a.withdraw(first, &order{Effect: machine.Effect{Do: machine.Withdraw, Op: 1}})
	second, heard := a.contend("")
	asked := a.asked
	a.create(second, 1)
	require.Equal(t, asked+1, a.asked, "a check of its own")
	a.checked(r, first, beat{sent: time.Now()})
	a.quiet(t, second, heard)
	a.checked(r, second, beat{sent: time.Now()})
	require.Equal(t, machine.Created, (<-heard).Kind)
}
