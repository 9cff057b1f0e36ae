package coordinator

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// bench is a coordinator whose answers are at hand.
type bench struct {
	*Coordinator
	at    At
	specs map[RequestID]*Spec
	op    uint64
}

func newBench() *bench {
	b := &bench{Coordinator: New(0, time.Minute, DefaultBounds(), 0), specs: map[RequestID]*Spec{},
		at: At{Lease: Lease{Term: 1, Valid: true, Left: time.Minute}}}
	b.Apply(Connected{time.Minute}, b.at)
	b.epoch.pathOf("/p").info = Info{Exists: true}
	return b
}

func (b *bench) order(id RequestID, do machine.Do, node string) []Output {
	sp := b.specs[id]
	if sp == nil {
		sp = NewSpec(&messages.Acquire{Path: "/p"}, fmt.Sprintf("r%d", id), "", time.Time{})
		b.specs[id] = sp
	}
	b.op++
	return b.Apply(&Order{Request: id, Spec: sp, Effect: machine.Effect{Do: do, Op: b.op, Node: node}}, b.at)
}

// answer answers the query among some outputs, or the one that was delayed until a timer fires.
func (b *bench) answer(outputs []Output, answer Answer) []Output {
	for _, out := range outputs {
		switch out := out.(type) {
		case *Ask:
			return b.Apply(&Reply{ID: out.ID, Answer: answer}, b.at)
		case StartTimer:
			return b.answer(b.Apply(Fired{out.Timer}, b.at), answer)
		}
	}
	panic("nothing is asked")
}

// enter has a request make its node.
func (b *bench) enter(id RequestID, number int) string {
	out := b.order(id, machine.Create, "")
	name := nameOf(b.specs[id].Style, guidOf(fmt.Sprintf("r%d", id)), number)
	made := Made{Name: name, Czxid: int64(number), First: number == 1}
	b.answer(out, &Created{Node: made, Info: Info{Exists: true}})
	return name
}

// BenchmarkApply measures the decisions, without an actor, a connection or a server.
func BenchmarkApply(b *testing.B) {
	b.Run("event of a watched node", func(b *testing.B) {
		c := newBench()
		waiter := RequestID(2)
		c.enter(waiter, 2)
		before := nameOf(queue.Style{}, "x", 1)
		b.ReportAllocs()
		for b.Loop() {
			c.answer(c.order(waiter, machine.Watch, before), &Read{})
			c.Apply(Changed{"/p/" + before, NodeDeleted}, c.at)
		}
	})
	b.Run("two that hand over to each other", func(b *testing.B) {
		c := newBench()
		number, holder := 1, RequestID(1)
		node := c.enter(holder, number)
		b.ReportAllocs()
		for b.Loop() {
			next := 3 - holder
			number++
			following := c.enter(next, number)
			c.order(next, machine.Watch, node)
			c.order(holder, machine.WatchOwn, "")
			c.answer(c.order(holder, machine.GiveBack, node), &Committed{})
			holder, node = next, following
		}
	})
	for _, waiting := range []int{1, 100} {
		b.Run(fmt.Sprintf("listing that serves %d", waiting), func(b *testing.B) {
			c := newBench()
			var children []string
			for n := range waiting {
				children = append(children, c.enter(RequestID(n+1), n+1))
			}
			b.ReportAllocs()
			for b.Loop() {
				var listing []Output
				for n := range waiting {
					if out := c.order(RequestID(n+1), machine.List, ""); n == 0 {
						listing = append(listing[:0], out...)
					}
				}
				c.answer(listing, &Listed{View{Queue: queue.NewListing(children, 0)}})
			}
		})
	}
}
