package actors

import (
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// unheard adds a contender whose lock actor takes what it is told, and does nothing with it.
func (a *aloneSession) unheard(node string, sequence int32) *contender {
	probe := a.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	c := &contender{spec: &spec{path: "/p", guid: node}, lock: probe}
	c.style.Mode = messages.Exclusive
	a.contenders[probe.String()] = c
	a.have(c, node, sequence, messages.Token(sequence))
	return c
}

// BenchmarkSessionDispatch is what the session actor itself costs, without a server: each operation ends with a message
// to a lock actor.
func BenchmarkSessionDispatch(b *testing.B) {
	b.Run("event of a watched node", func(b *testing.B) {
		a := newAlone(b, 1)
		c := a.unheard(nodeName(1), 1)
		path := c.at(c.node)
		b.ReportAllocs()
		for b.Loop() {
			a.watchOwn(c, machine.Effect{Op: 1, Node: c.node})
			a.nodeEvent(zkconn.Event{Kind: zkconn.NodeDataChanged, Path: path})
		}
	})
	b.Run("hand-over between two of one session", func(b *testing.B) {
		a := newAlone(b, 1)
		holder, next := a.unheard(nodeName(1), 1), a.unheard(nodeName(2), 2)
		b.ReportAllocs()
		for b.Loop() {
			node, sequence := holder.node, holder.sequence
			holder.granted = true
			a.watchPredecessor(next, machine.Effect{Op: 2, Node: node})
			a.handOver(holder)
			a.removed(holder, machine.Effect{Op: 3, Node: node}, time.Now(), nil)
			a.have(holder, node, sequence, messages.Token(sequence))
		}
	})
	for _, waiting := range []int{1, 100} {
		b.Run(fmt.Sprintf("listing that serves %d", waiting), func(b *testing.B) {
			a := newAlone(b, 1)
			var children []string
			var all []*contender
			for n := range waiting {
				children = append(children, nodeName(n+1))
				all = append(all, a.unheard(nodeName(n+1), int32(n+1)))
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, c := range all {
					a.list(c, 1)
				}
				a.listed("/p", a.listings["/p"], view{queue: queue.NewListing(children, 0)})
			}
		})
	}
}
