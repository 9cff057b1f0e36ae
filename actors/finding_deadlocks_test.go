package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestCirclesHaveToStay: what only one of two readings shows was perhaps never there as a whole.
func TestCirclesHaveToStay(t *testing.T) {
	node := func(name string, token messages.Token, holds bool) messages.Contender {
		return messages.Contender{Path: "/x", Node: name, Token: token, Holds: holds}
	}
	queue := func(all ...messages.Contender) queue.LockPath { return queue.LockPath{Contenders: all} }
	first := queue(node("a", 1, true), node("b", 2, false), node("c", 3, false), node("d", 4, false))
	second := queue(node("b", 2, true), node("c", 9, false), node("d", 4, false), node("e", 10, false))
	require.Equal(t, queue(node("b", 2, true), node("d", 4, false)), stayed(first, second))
}

// TestOwnNodesThatAreLetGoAreNoEdges: a circle is none when a node of the session that looks keeps
// others out, or waits, for nobody any more: it is retained, or is being deleted.
func TestOwnNodesThatAreLetGoAreNoEdges(t *testing.T) {
	token, err := messages.NewToken(7, 0)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		with func(a *aloneSession, c *contender)
		left int
	}{
		"held":              {func(*aloneSession, *contender) {}, 1},
		"of another":        {func(a *aloneSession, c *contender) { a.strike(c); a.setLease(&lease{epoch: 1, session: 9}) }, 1},
		"retained":          {func(a *aloneSession, c *contender) { a.remove(c, giveBackOf(c)) }, 0},
		"given back":        {func(a *aloneSession, c *contender) { c.spec.sticky = 0; a.remove(c, giveBackOf(c)) }, 0},
		"being cleaned up":  {func(a *aloneSession, c *contender) { a.abandoned(c.lock) }, 0},
		"nobody's any more": {func(a *aloneSession, c *contender) { a.strike(c) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			own, _ := a.contend("")
			own.spec.sticky = time.Hour
			a.have(own, nodeName(1), 1, token)
			own.granted = true
			c.with(a, own)
			keeps := messages.Contender{Path: "/p", Node: nodeName(1), Session: 1}
			waits := messages.Contender{Path: "/q", Node: nodeName(2), Session: 2, Detects: true}
			found := messages.Deadlock{Members: []messages.Member{{Keeps: keeps, Waits: waits}}}

			answer := make(chan any, 1)
			asker := a.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
				if l, ok := ctx.Message().(*lookedOut); ok {
					answer <- l
				}
			}))
			q := &inquiry{asker: asker, task: lookOutTask{lookOut{root: "/", node: waits.At()}}}
			a.inquiries = map[*inquiry]struct{}{q: {}}
			a.inquired(q, &deadlocks{[]messages.Deadlock{found}, q.task.(lookOutTask)}, nil)
			looked := (<-answer).(*lookedOut)
			require.Equal(t, c.left == 1, looked.deadlock != nil)
		})
	}
}

func giveBackOf(c *contender) machine.Effect {
	return machine.Effect{Do: machine.GiveBack, Op: 1, Node: c.node}
}

// TestSecondLookWaits: it is not begun before the session of a retained node has had time to let it
// go.
func TestSecondLookWaits(t *testing.T) {
	a := newAlone(t, 1)
	look := lookOutTask{lookOut{root: "/", node: "/q/n"}}
	q := &inquiry{task: look}
	a.inquiries = map[*inquiry]struct{}{q: {}}
	first := &deadlockAgain{deadlockTask: look, read: time.Now()}
	a.inquired(q, first, nil)
	asked := a.asked
	a.attend()
	require.Equal(t, asked, a.asked, "it rests")
	require.Same(t, first, q.task)
	early, err := first.answer(nil) // in another epoch
	require.NoError(t, err)
	require.Same(t, first, early)
}
