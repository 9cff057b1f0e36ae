package coordinator

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// orphanage is a session with requests, as servers know it.
type orphanage struct {
	c      *Coordinator
	asks   []*Ask
	timer  uint64 // of the next late look
	found  int    // requests that have heard of a node
	number int    // of the newest node
}

// lostCreates has creates lost.
func lostCreates(creates int) *orphanage {
	o := newOrphanage(creates)
	for len(o.asks) > 0 {
		o.answer(lost)
	}
	for i := range creates {
		o.order(RequestID(i+1), machine.Verify, 2)
	}
	for len(o.asks) > 0 {
		o.answer(func(Query) Answer { return &Looked{} })
	}
	return o
}

// waiting has requests make their nodes in one lock path.
func waiting(many int) *orphanage {
	o := newOrphanage(many)
	for len(o.asks) > 0 {
		o.answer(o.carryOut)
	}
	return o
}

// newOrphanage has requests ask for their nodes, in one lock path.
func newOrphanage(creates int) *orphanage {
	bounds := DefaultBounds()
	bounds.Weight = creates << 10
	o := &orphanage{c: New(0, sessionTimeout, bounds, 0)}
	o.apply(Connected{sessionTimeout})
	for i := range creates {
		o.create(RequestID(i+1), "/l")
	}
	return o
}

// create has a request ask for its node.
func (o *orphanage) create(id RequestID, path string) {
	sp := NewSpec(&messages.Acquire{Path: path}, fmt.Sprintf("guid%d", id), "", time.Time{})
	o.apply(&Order{Request: id, Spec: sp, Effect: machine.Effect{Do: machine.Create, Op: 1}})
}

// carryOut answers a query as servers do that have no other nodes.
func (o *orphanage) carryOut(q Query) Answer {
	made := func(sp *Spec, guid string, place int) Made {
		o.number++
		return Made{Name: nameOf(sp.Style, guid, o.number), Czxid: 9, Place: place}
	}
	switch q := q.(type) {
	case *Create:
		return &Created{Node: made(q.Spec, q.GUID, 0), Info: Info{Exists: true}}
	case *Commit:
		a := &Committed{}
		for _, n := range q.Creates {
			a.Made = append(a.Made, made(n.Spec, n.GUID, n.Place))
		}
		return a
	case *List:
		return &Listed{View{Queue: queue.NewListing(nil, 0)}}
	}
	return &Ack{}
}

// lost is the answer to what was lost with its connection.
func lost(q Query) Answer {
	if _, commits := q.(*Commit); commits {
		return &Committed{Failure: Failure{Outcome: Unknown}}
	}
	return &Created{Failure: Failure{Outcome: Unknown}}
}

func (o *orphanage) apply(in Input) {
	for _, out := range o.c.Apply(in, At{Lease: Lease{Term: 1, Valid: true, Left: sessionTimeout}}) {
		if ask, asks := out.(*Ask); asks {
			o.asks = append(o.asks, ask)
		}
		if start, starts := out.(StartTimer); starts && o.c.epoch.timers[start.Timer].kind == CreateTimer {
			o.timer = start.Timer
		}
		if tell, tells := out.(*Tell); tells && tell.Event.Kind == machine.Found && tell.Event.Node != "" {
			o.found++
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

// look has the timer fire, and the servers answer that there is nothing.
func (o *orphanage) look() { o.lookAndHear(&Looked{}) }

func (o *orphanage) lookAndHear(found *Looked) {
	timer := o.timer
	o.timer = 0
	o.apply(Fired{timer})
	o.answer(func(Query) Answer { return found })
}

// shown gives the nodes of attempts, as a look shows them.
func shown(names ...string) *Looked {
	a := &Looked{}
	for _, name := range names {
		a.Nodes = append(a.Nodes, Seen{Name: long(name), Czxid: 9})
	}
	return a
}

// TestLateCreatesAreForgotten: nothing is kept of a create that can come no more.
func TestLateCreatesAreForgotten(t *testing.T) {
	o := lostCreates(3)
	o.lookAndHear(shown("r1-1", "r2-2"))
	o.answer(func(Query) Answer { return &Committed{} })
	for looks := 0; o.timer != 0; looks++ {
		require.Less(t, looks, lateLooks)
		o.look()
	}
	o.apply(Disconnected{})
	o.apply(Connected{sessionTimeout})
	require.Empty(t, o.asks, "creates can come no more")
	for id := range RequestID(3) {
		o.apply(Ended{id + 1})
	}
	require.Zero(t, o.c.Requests())
	require.Len(t, o.c.epoch.idle, 1)
}

// TestLateCreatesThatMayNotBeListed: a session that may not list a lock path does not look there for ever.
func TestLateCreatesThatMayNotBeListed(t *testing.T) {
	o := lostCreates(1)
	for looks := 0; o.timer != 0; looks++ {
		require.LessOrEqual(t, looks, lateLooks)
		o.lookAndHear(&Looked{Failure: Failure{Outcome: Refused, Cause: NoAuth}})
	}
	require.False(t, o.c.LooksAreDue())
}

// TestStrayWhoseDeleteFails: the session looks for it again, also where that was the last look.
func TestStrayWhoseDeleteFails(t *testing.T) {
	o := lostCreates(1)
	for range lateLooks - 1 {
		o.look()
	}
	o.lookAndHear(shown("r1-1"))
	o.answer(lost)
	o.apply(Fired{o.timer})
	require.Len(t, o.asks, 1)
	require.IsType(t, &Look{}, o.asks[0].Query)
}

// order has a request give an order.
func (o *orphanage) order(id RequestID, do machine.Do, op uint64) {
	o.apply(&Order{Request: id, Effect: machine.Effect{Do: do, Op: op}})
}

// TestOneLookAfterACut: of two hundred and fifty-six requests that wait each finds its node again after a cut, by one look.
func TestOneLookAfterACut(t *testing.T) {
	const waiters = 256
	o := waiting(waiters)
	names := make([]string, waiters)
	for i := range names {
		names[i] = fmt.Sprintf("r%d-%d", i+1, i+1)
	}
	o.apply(Disconnected{})
	o.apply(Connected{sessionTimeout})
	o.asks = nil // a heartbeat
	for id := range RequestID(waiters) {
		o.order(id+1, machine.Verify, 2)
	}
	require.Len(t, o.asks, 1)
	o.answer(func(Query) Answer { return shown(names...) })
	require.Empty(t, o.asks)
	require.Equal(t, waiters, o.found)
}

// TestPathsAreBounded: what is known of lock paths that nobody uses is kept for so many of them, and an answer that comes
// late for a path that is forgotten makes none.
func TestPathsAreBounded(t *testing.T) {
	o, late := newOrphanage(0), []*Ask(nil)
	for id := range RequestID(knownPaths + 500) {
		id++
		o.create(id, fmt.Sprint("/many/", id))
		o.answer(o.carryOut)
		o.order(id, machine.List, 1)
		late, o.asks = append(late, o.asks...), nil
		o.order(id, machine.Delete, 1)
		o.answer(o.carryOut)
		o.apply(Ended{id})
		if id%100 == 0 { // it looks at every path
			require.NoError(t, o.c.Check())
		}
	}
	require.LessOrEqual(t, len(o.c.epoch.paths), knownPaths)
	require.NotEmpty(t, late)
	o.asks = late
	o.answer(o.carryOut)
	require.LessOrEqual(t, len(o.c.epoch.paths), knownPaths)
	require.Len(t, o.c.epoch.idle, len(o.c.epoch.paths))
	require.Zero(t, o.c.Requests())
}
