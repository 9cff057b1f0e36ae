package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// pairOf makes a holder and the contender behind it, both of this session, the second waiting for the first.
func pairOf(a *aloneSession) (holder, next *contender, heard <-chan machine.Event) {
	holder, _ = a.contend("")
	next, heard = a.contend("")
	for i, c := range []*contender{holder, next} {
		c.style.Mode = messages.Exclusive
		a.have(c, nodeName(i+1), int32(i+1), messages.Token(i+1))
	}
	holder.granted = true
	a.watchPredecessor(next, machine.Effect{Op: 7, Node: holder.node})
	return holder, next, heard
}

// TestHandOver: who waits for a node of its own session needs no watch, and holds before that node is deleted.
func TestHandOver(t *testing.T) {
	a := newAlone(t, 1)
	holder, next, heard := pairOf(a)
	require.Equal(t, machine.Watched, (<-heard).Kind)
	require.Zero(t, a.asked, "no watch was asked for")

	a.remove(holder, machine.Effect{Do: machine.GiveBack, Op: 3, Node: holder.node})
	ev := <-heard
	require.Equal(t, machine.PredecessorGone, ev.Kind)
	require.EqualValues(t, 7, ev.Op)
	require.True(t, ev.Head)
	require.Equal(t, 1, a.asked, "the delete follows")
	a.removed(holder, machine.Effect{Op: 3, Node: nodeName(1)}, time.Now(), nil)
	a.quiet(t, next, heard) // it was told once
	require.Len(t, a.nodes, 1)
}

// TestNoHandOver: what the one behind is told when the node is gone, and not before.
func TestNoHandOver(t *testing.T) {
	for name, change := range map[string]func(a *aloneSession, holder, next *contender, e *machine.Effect){
		"the hold is taken from its owner":          func(_ *aloneSession, _, _ *contender, e *machine.Effect) { e.Do = machine.Delete },
		"it was no hold":                            func(_ *aloneSession, holder, _ *contender, _ *machine.Effect) { holder.granted = false },
		"a writer, who may still read at its place": func(_ *aloneSession, holder, _ *contender, _ *machine.Effect) { holder.style.Mode = messages.Write },
		"readers share it":                          func(_ *aloneSession, holder, _ *contender, _ *machine.Effect) { holder.style.Mode = messages.Read },
		"there may be a second node":                func(_ *aloneSession, _, next *contender, _ *machine.Effect) { next.unsure = true },
		"the connection is down":                    func(a *aloneSession, _, _ *contender, _ *machine.Effect) { a.connected = false },
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			holder, next, heard := pairOf(a)
			require.Equal(t, machine.Watched, (<-heard).Kind)
			e := machine.Effect{Do: machine.GiveBack, Op: 3, Node: holder.node}
			change(a, holder, next, &e)
			a.remove(holder, e)
			a.quiet(t, next, heard)

			a.removed(holder, e, time.Now(), nil)
			ev := <-heard
			require.Equal(t, machine.PredecessorGone, ev.Kind)
			require.False(t, ev.Head, "the queue is read again")
		})
	}
}
