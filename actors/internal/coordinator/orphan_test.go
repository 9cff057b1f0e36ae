package coordinator

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// orphanage is a session whose creates were lost, and whose searches have found no node.
type orphanage struct {
	c     *Coordinator
	asks  []*Ask
	timer uint64 // of the next look
}

// lostCreates has creates lost, over some lock paths.
func lostCreates(creates, paths int) *orphanage {
	bounds := DefaultBounds()
	bounds.Weight = creates << 10
	o := &orphanage{c: New(0, sessionTimeout, bounds)}
	o.apply(Connected{sessionTimeout})
	for i := range creates {
		sp := NewSpec(&messages.Acquire{Path: fmt.Sprint("/l", i%paths)}, fmt.Sprintf("guid%d", i), "", time.Time{})
		o.apply(&Order{Request: RequestID(i + 1), Spec: sp, Effect: machine.Effect{Do: machine.Create, Op: 1}})
	}
	for len(o.asks) > 0 {
		o.answer(func(q Query) Answer { return unanswered(q, Failure{Outcome: Unknown}) })
	}
	for i := range creates {
		o.apply(&Order{Request: RequestID(i + 1), Effect: machine.Effect{Do: machine.Verify, Op: 2}})
	}
	o.answer(func(Query) Answer { return &Found{} })
	return o
}

func (o *orphanage) apply(in Input) {
	for _, out := range o.c.Apply(in, At{Lease: Lease{Term: 1, Valid: true, Left: sessionTimeout}}) {
		if ask, asks := out.(*Ask); asks {
			o.asks = append(o.asks, ask)
		}
		if start, starts := out.(StartTimer); starts && o.c.epoch.timers[start.Timer].kind == OrphanTimer {
			o.timer = start.Timer
		}
	}
}

// answer answers all queries.
func (o *orphanage) answer(with func(Query) Answer) {
	all := o.asks
	o.asks = nil
	for _, ask := range all {
		o.apply(&Reply{ID: ask.ID, Answer: with(ask.Query)})
	}
}

// look has the timer fire, and the servers answer that there is no orphan.
func (o *orphanage) look() { o.lookAndHear(&OrphansFound{}) }

func (o *orphanage) lookAndHear(found *OrphansFound) {
	timer := o.timer
	o.timer = 0
	o.apply(Fired{timer})
	o.answer(func(Query) Answer { return found })
}

// TestOrphansAreForgotten: nothing is kept of a create that can come no more, and of nodes whose deletes were sent, once
// their request is gone.
func TestOrphansAreForgotten(t *testing.T) {
	o := lostCreates(3, 1)
	require.Len(t, o.c.epoch.orphans, 3)
	o.apply(Fired{o.timer})
	o.answer(func(Query) Answer {
		return &OrphansFound{Nodes: []FoundOrphan{{Name: long("guid0-1"), GUID: "guid0"}, {Name: long("guid1-2"), GUID: "guid1"}}}
	})
	o.answer(func(Query) Answer { return &Committed{} })
	o.apply(Ended{1})
	for looks := 0; o.timer != 0; looks++ {
		require.Less(t, looks, orphanForgotten)
		o.look()
	}
	require.Len(t, o.c.epoch.orphans, 1, "the second request lives, and is not to take the node that was deleted")
	o.asks = nil // the first request looks whether it has left a node
	o.apply(Disconnected{})
	o.apply(Connected{sessionTimeout})
	for _, ask := range o.asks {
		_, looks := ask.Query.(*FindOrphans)
		require.False(t, looks, "its create can come no more")
	}
	o.asks = nil
	o.apply(Ended{2})
	require.Empty(t, o.c.epoch.orphans)
	o.apply(Disconnected{})
	o.apply(Connected{sessionTimeout})
	require.Empty(t, o.asks)
}

// TestOrphansThatMayNotBeListed: a session that may not list a lock path does not look there for ever.
func TestOrphansThatMayNotBeListed(t *testing.T) {
	o := lostCreates(1, 1)
	for looks := 0; o.timer != 0; looks++ {
		require.LessOrEqual(t, looks, orphanForgotten)
		o.lookAndHear(&OrphansFound{Failure: Failure{Outcome: Refused, Cause: NoAuth}})
	}
	require.Empty(t, o.c.epoch.orphans)
}

// TestOrphanWhoseDeleteFails: the session looks for it again, also where that was the last look.
func TestOrphanWhoseDeleteFails(t *testing.T) {
	o := lostCreates(1, 1)
	for range orphanForgotten - 2 {
		o.look()
	}
	o.lookAndHear(&OrphansFound{Nodes: []FoundOrphan{{Name: long("guid0-1"), GUID: "guid0"}}})
	o.answer(func(q Query) Answer { return unanswered(q, Failure{Outcome: Unknown}) })
	o.apply(Fired{o.timer})
	require.Len(t, o.asks, 1)
	require.IsType(t, &FindOrphans{}, o.asks[0].Query)
}

// order has the first request give an order.
func (o *orphanage) order(do machine.Do, op uint64) {
	o.apply(&Order{Request: 1, Effect: machine.Effect{Do: do, Op: op}})
}

// TestOrphansOfTwoCreates: the node that is found after the second create was lost may be that of the first. The second is
// waited for as long as the first was.
func TestOrphansOfTwoCreates(t *testing.T) {
	o := lostCreates(1, 1)
	for range 5 {
		o.look()
	}
	its := o.c.epoch.orphans["guid0"]
	require.Equal(t, 5, its.looks)
	o.order(machine.Create, 3)
	o.answer(func(q Query) Answer { return unanswered(q, Failure{Outcome: Unknown}) })
	o.order(machine.Verify, 4)
	o.answer(func(Query) Answer { return &Found{Name: long("guid0-1"), Czxid: 9} })
	require.Zero(t, its.looks)
	require.Equal(t, lookDue, its.phase)
}

// TestOvertakenSearchHasDeleted: no request takes a node that a search has deleted, also where a newer search has overtaken
// that one.
func TestOvertakenSearchHasDeleted(t *testing.T) {
	o := lostCreates(1, 1)
	o.order(machine.Create, 3)
	o.answer(func(q Query) Answer { return unanswered(q, Failure{Outcome: Unknown}) })
	o.order(machine.Verify, 4)
	older := o.asks[0]
	o.apply(Disconnected{})
	o.apply(Connected{sessionTimeout})
	o.order(machine.Verify, 5)
	o.apply(&Reply{ID: older.ID, Answer: &Found{Removed: []string{long("guid0-2")}, Failure: Failure{Outcome: Unknown}}})
	require.Equal(t, []string{long("guid0-2")}, o.c.epoch.orphans["guid0"].removed)
}

// BenchmarkOrphans has ten thousand creates lost, and looks for their nodes after a cut. There is one query for each lock
// path, and its answer does not go through the creates of other paths.
func BenchmarkOrphans(b *testing.B) {
	for _, paths := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("paths=%d", paths), func(b *testing.B) {
			o := lostCreates(10_000, paths)
			for b.Loop() {
				o.apply(Disconnected{})
				o.apply(Connected{sessionTimeout})
				require.Len(b, o.asks, paths)
				o.answer(func(Query) Answer { return &OrphansFound{} })
			}
		})
	}
}
