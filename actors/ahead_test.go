package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// third makes the third of a queue, behind two of other sessions, and has it watch.
func third(t *testing.T, a *aloneSession) (*contender, <-chan machine.Event) {
	t.Helper()
	c, heard := a.contend(nodeName(3))
	a.list(c, 1)
	a.sees(1, 2, 3)
	ev := <-heard
	require.False(t, ev.Head)
	asked := a.asked
	a.watchPredecessor(c, machine.Effect{Op: 2, Node: ev.Predecessor})
	require.Equal(t, asked+2, a.asked, "its predecessor, and the one before")
	return c, heard
}

// sees answers the listing that is under way.
func (a *aloneSession) sees(sequences ...int) {
	var children []string
	for _, n := range sequences {
		children = append(children, nodeName(n))
	}
	a.listed("/p", a.listings["/p"], view{queue: queue.NewListing(children, 0)})
}

func (a *aloneSession) deleted(n int) {
	a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDeleted, Path: "/p/" + nodeName(n)})
}

// TestListingAhead: when the one before the predecessor goes, the queue is listed, and the lock actor hears
// nothing; when the predecessor goes it need not be listed again.
func TestListingAhead(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := third(t, a)
	asked := a.asked
	a.deleted(1)
	require.Equal(t, asked+1, a.asked, "the listing")
	a.sees(2, 3)
	a.quiet(t, c, heard)
	a.deleted(2)
	ev := <-heard
	require.Equal(t, machine.PredecessorGone, ev.Kind)
	require.EqualValues(t, 2, ev.Op)
	require.True(t, ev.Head)
	require.Empty(t, a.watches)
}

// TestListingAheadFindsOthers: the one before the predecessor gave up, and somebody else is before it still.
func TestListingAheadFindsOthers(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := third(t, a)
	a.deleted(1)
	asked := a.asked
	a.sees(0, 2, 3)
	require.Equal(t, asked+1, a.asked, "that one is watched")
	a.quiet(t, c, heard)
	a.deleted(0)
	a.sees(2, 3)
	a.deleted(2)
	require.True(t, (<-heard).Head)
}

// TestListingAheadComesTooLate: the predecessor goes before anything was seen, and the queue is read again as ever.
func TestListingAheadComesTooLate(t *testing.T) {
	for name, happens := range map[string]func(a *aloneSession){
		"nothing has changed": func(*aloneSession) {},
		"it is being listed":  func(a *aloneSession) { a.deleted(1) },
		"somebody is before the predecessor": func(a *aloneSession) {
			a.deleted(1)
			a.sees(0, 2, 3)
		},
		"the listing failed": func(a *aloneSession) {
			a.deleted(1)
			a.listed("/p", a.listings["/p"], view{queue: queue.NewListing(nil, 0), err: zkconn.ErrUnknownOutcome})
		},
		"its own node was not shown": func(a *aloneSession) {
			a.deleted(1)
			a.sees(2)
		},
		"the predecessor was gone already": func(a *aloneSession) {
			a.deleted(1)
			a.sees(3)
		},
		"somebody wrote to the node": func(a *aloneSession) {
			a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDataChanged, Path: "/p/" + nodeName(1)})
			a.sees(1, 2, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			c, heard := third(t, a)
			happens(a)
			a.quiet(t, c, heard)
			a.deleted(2)
			ev := <-heard
			require.Equal(t, machine.PredecessorGone, ev.Kind)
			require.False(t, ev.Head)
		})
	}
}

// TestNoListingAhead: where it would not pay, or is switched off, only the predecessor is watched.
func TestNoListingAhead(t *testing.T) {
	for name, c := range map[string]struct {
		asked int
		is    func(a *aloneSession)
	}{
		"switched off":                             {1, func(a *aloneSession) { a.opts.without = ListingAhead }},
		"the predecessor is of the same session":   {0, func(a *aloneSession) { a.nodes["/p/"+nodeName(2)] = ownNode{contenders: 1} }},
		"the one before it is of the same session": {1, func(a *aloneSession) { a.nodes["/p/"+nodeName(1)] = ownNode{contenders: 1} }},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 1)
			c.is(a)
			waiter, heard := a.contend(nodeName(3))
			a.list(waiter, 1)
			a.sees(1, 2, 3)
			asked := a.asked
			a.watchPredecessor(waiter, machine.Effect{Op: 2, Node: (<-heard).Predecessor})
			require.Equal(t, asked+c.asked, a.asked)
		})
	}
}

// TestNoHandOverToWhoLooksAhead: who watches the holder for the sake of its predecessor is not next.
func TestNoHandOverToWhoLooksAhead(t *testing.T) {
	a := newAlone(t, 1)
	holder, _ := a.contend("")
	a.have(holder, nodeName(1), 1, 1)
	holder.granted = true
	c, heard := a.contend(nodeName(3))
	a.list(c, 1)
	a.sees(1, 2, 3)
	a.watchPredecessor(c, machine.Effect{Op: 2, Node: (<-heard).Predecessor})
	e := machine.Effect{Do: machine.GiveBack, Op: 3, Node: holder.node}
	a.remove(holder, e)
	a.quiet(t, c, heard)
}
