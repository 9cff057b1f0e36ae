package walk

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// What is here mirrors actors/lock.go.

// valid mirrors lease.valid of actors/protocol.go: an epoch that is over has a lease that has ended.
func (w *world) valid(i int, epoch uint8) bool {
	s := w.sessionOf(i)
	return epoch != 0 && s.epoch == epoch && s.lease
}

// hear mirrors lock.hear.
func (w *world) hear(i int) {
	c := &w.contenders[i]
	n := c.inbox.take(0)
	c.slow = c.slow && c.inbox.n > 0
	if w.telling {
		w.note("%s hears %v", contenderName(i), n)
	}
	c.epoch = n.Epoch
	w.step(i, n.event())
}

// step mirrors lock.step.
func (w *world) step(i int, ev machine.Event) {
	c := &w.contenders[i]
	if c.machine().Holding() && !w.valid(i, c.held) && !saysMore(ev.Kind) {
		w.step(i, machine.Event{Kind: machine.LeaseOver})
	}
	ev.Lease = w.valid(i, c.epoch)
	before := c.machine()
	after, effects, row := w.decide(before, ev)
	c.request = inBytes(after)
	if row != nil && w.fired != nil {
		w.fired[row] = true
	}
	w.tellRow(i, before, after, row)
	if after.State.Holding() && !before.Holding() {
		c.held = c.epoch
	}
	settled := false
	for _, e := range effects {
		settled = settled || e.Do == machine.Settle
		w.perform(i, e, ev)
	}
	if after.State.Terminal() && !before.State.Terminal() {
		w.checkEnd(i, settled)
		w.stop(i)
	}
}

// decide is Machine.Explain, but for the mistakes.
func (w *world) decide(m machine.Machine, ev machine.Event) (machine.Machine, []machine.Effect, *machine.Row) {
	if w.mistake(SkipSecondListing) && ev.Kind == machine.PredecessorGone {
		m.Head = true
	}
	if w.mistake(GrantWithoutLease) {
		ev.Lease = true
	}
	return m.Explain(ev)
}

// saysMore mirrors the function of the same name.
func saysMore(k machine.Kind) bool {
	return k == machine.LeaseOver || k == machine.Expired || k == machine.Closed || k == machine.NodeGone
}

// perform mirrors lock.carryOut.
func (w *world) perform(i int, e machine.Effect, ev machine.Event) {
	c := &w.contenders[i]
	switch e.Do {
	case machine.StartPoll, machine.StartRetry:
		c.poll = uint8(e.Op)
	case machine.StartTimeout: // a command of the walk
	case machine.StartGrace:
		c.grace = true
	case machine.Halt:
		w.violate(NeverImpossible, "%s: %v is impossible in %v", contenderName(i), ev.Kind, c.State)
	default:
		if isNotice(e.Do) {
			w.checkNotice(i, e.Do)
			return
		}
		o := order{Do: e.Do, Op: uint8(e.Op), Node: named(e.Node), Epoch: c.epoch}
		if w.late || c.outbox.n > 0 {
			c.outbox.push(o)
			return
		}
		w.take(i, o)
	}
}

func isNotice(d machine.Do) bool { return d >= machine.TellHeld && d <= machine.TellFailed }

// stop mirrors the end of a lock actor, wherever it comes from. What it has sent stays in the mailbox
// of its session.
func (w *world) stop(i int) {
	c := &w.contenders[i]
	c.stopped = true
	c.inbox, c.slow = fifo[news]{}, false
	c.poll, c.grace = 0, false
	c.terminated = c.known.enlisted
}

func (w *world) tellRow(i int, before, after machine.Machine, row *machine.Row) {
	if !w.telling || row == nil {
		return
	}
	text := contenderName(i) + ": " + before.State.String()
	if after.State != before.State {
		text += " → " + after.State.String()
	}
	if row.If.Name != "" {
		text += " [" + row.If.Name + "]"
	}
	if row.Do.Name != "" {
		text += ": " + row.Do.Name
	}
	if after.State == messages.StateRecovering && before.State != after.State {
		text += " (from " + after.From.String() + ")"
	}
	w.note("%s", text)
}
