package sharing

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// outbox has what is to be done, in order.
type outbox struct {
	todo     []output
	spare    []output // what was carried out last, to be used again
	attended bool     // a goroutine carries it out
	// urgent takes what an input ends that cannot wait for the queue; nil for other inputs. deadlock is the one
	// for which the lock actor of an input gave up.
	urgent   *[]output
	deadlock *messages.Deadlock
}

// output is one thing to do: an output of turns, with those that it is about as they were then. IDs
// may be used again before it is carried out.
type output struct {
	do       turns.Do
	state    messages.State
	call     turns.CallID
	who      Call
	hold     *hold
	token    messages.Token
	then     func() // of a grant
	until    time.Time
	why      messages.Reason
	detail   string
	deadlock *messages.Deadlock
}

// take takes what an input has led to. Cancel gives a reason to lock actors. The mutex is held.
func (c *Calls) take(cancel messages.Reason) {
	all := c.turns.Take()
	for _, o := range all {
		if o.Do == turns.Refuse && cancel == messages.ReasonNone { // its lock actor, if it has one, is cancelled for that
			cancel = o.Reason
		}
	}
	for _, o := range all {
		switch out := (output{do: o.Do, state: o.State, call: o.Call, token: o.Token, why: o.Reason, detail: o.Detail}); o.Do {
		case turns.SetTimer:
			if e := c.entry(o.Call); e == nil || e.hold == nil || e.hold.want.Grace == 0 { // else its lock actor has the timer
				c.prune()
				c.timers.set(alarm{o.Deadline, o.Call, o.Hold}, time.Since(c.base))
			}
		case turns.Grant:
			c.granted(&out, c.hold(o.Hold))
		case turns.Refuse:
			c.refused(&out, c.hold(o.Hold))
		case turns.Tell:
			c.told(&out, o)
		case turns.Ask:
			c.ask(&out, o)
		case turns.Cancel:
			out.hold, out.why = c.hold(o.Hold), cancel
			out.hold.leaves = true
			c.unasked(out.hold)
			c.todo = append(c.todo, out)
		default:
			out.hold = c.hold(o.Hold)
			if o.Do == turns.Release {
				out.hold.leaves = true
			}
			c.todo = append(c.todo, out)
		}
	}
}

// granted notes that a call has a hold.
func (c *Calls) granted(out *output, h *hold) {
	e := c.entry(out.call)
	if h.grants == 0 || h.freed != 0 && e.at < h.freedAt {
		at, local := h.meter.Handoff()
		if h.grants > 0 {
			at, local = h.freed, true
		}
		e.meter.HandedOff(at, local)
	}
	e.meter.Grants()
	h.grants++
	e.hold = h
	c.waiting--
	if e.probe != nil {
		close(e.probe)
		e.probe = nil
	}
	if out.then = e.who.Granted(e.id, &h.Hold, out.token); out.then != nil {
		c.todo = append(c.todo, *out)
	}
}

// refused notes the end of a call that never held.
func (c *Calls) refused(out *output, by *hold) {
	e := c.entry(out.call)
	if by != nil && out.detail == "" {
		if out.detail = "a node that has no name yet"; by.nodeNow() != "" {
			out.detail = "node " + by.nodeNow()
		}
	}
	out.who, out.deadlock = e.who, c.deadlock
	e.meter.Leaves(out.why, false)
	c.waiting--
	c.forget(e)
	c.todo = append(c.todo, *out)
}

// told notes what a call that holds is told.
func (c *Calls) told(out *output, o turns.Output) {
	e := c.entry(o.Call)
	h := e.hold
	out.who = e.who
	switch o.State {
	case messages.StateRevoking:
		if o.Deadline > 0 {
			out.until = c.base.Add(o.Deadline)
		}
		if !h.resuming {
			e.meter.Asked()
		}
	case messages.StateReleased: // the grace is over
		out.state = messages.StateReleasing
		e.meter.Forced()
		e.meter.Leaves(o.Reason, false)
		c.forget(e)
		h.awaited = append(h.awaited, out.who)
	case messages.StateLost:
		e.meter.Leaves(o.Reason, true)
		c.forget(e)
	}
	if c.urgent != nil && (o.State == messages.StateReleased || o.State == messages.StateLost) {
		*c.urgent = append(*c.urgent, *out)
		return
	}
	c.todo = append(c.todo, *out)
}

// ask notes a hold that is asked for.
func (c *Calls) ask(out *output, o turns.Output) {
	e := c.entry(o.Call)
	for o.Hold.Slot() >= len(c.holds) {
		c.holds = append(c.holds, nil)
	}
	out.hold = c.newHold(o, e)
	c.holds[o.Hold.Slot()] = out.hold
	if e.want.Alone {
		if o, ok := e.who.(*observed); ok {
			o.below.Store(true)
		}
	}
	c.asked++
	c.live++ // its lock actor
	c.todo = append(c.todo, *out)
}

// unasked notes that a hold is not asked for any more.
func (c *Calls) unasked(h *hold) {
	if h.asked {
		h.asked = false
		c.asked--
	}
}

// roundsAttended is the number of times that a goroutine empties the queue. Others may add to it for
// as long as they like, and it has work of its own.
const roundsAttended = 8

// settle gives up the mutex, and carries out what is to be done, unless another goroutine does.
func (c *Calls) settle() {
	if n := c.inside(); n != c.counted && c.session.figures != nil {
		c.session.figures.Inside(n - c.counted)
		c.counted = n
	}
	if c.attended || len(c.todo) == 0 {
		c.mu.Unlock()
		return
	}
	c.attended = true
	c.attend(roundsAttended)
}

// attend has the mutex, and gives it up.
func (c *Calls) attend(rounds int) {
	for len(c.todo) > 0 {
		if rounds--; rounds < 0 {
			c.mu.Unlock()
			go func() {
				c.mu.Lock()
				c.attend(1 << 30)
			}()
			return
		}
		batch := c.todo
		c.todo = c.spare[:0]
		c.mu.Unlock()
		for i := range batch {
			c.carryOut(&batch[i])
		}
		clear(batch)
		c.mu.Lock()
		c.spare = batch[:0]
	}
	c.attended = false
	c.mu.Unlock()
}

// carryOut does one thing, without the mutex.
func (c *Calls) carryOut(o *output) {
	switch o.do {
	case turns.Grant:
		o.then()
	case turns.Refuse:
		if d, ok := o.who.(Deadlocked); ok && o.deadlock != nil {
			d.Deadlocked(*o.deadlock)
		}
		o.who.Refused(o.why, o.detail)
	case turns.Tell:
		o.who.Told(o.state, o.until, o.why, o.detail)
	case turns.Ask:
		o.hold.spawn(c)
	case turns.Cancel:
		makeRoomOnStack(0)
		c.root.Send(o.hold.pid(), &messages.Cancel{Reason: o.why})
	case turns.Release:
		makeRoomOnStack(0)
		c.root.Send(o.hold.pid(), &messages.Release{})
	case turns.Check:
		c.root.Send(o.hold.pid(), &messages.Check{})
	case turns.WatchContention:
		c.root.Send(o.hold.pid(), &messages.WatchContention{})
	case turns.TxnAgain, turns.TxnFull:
		c.tellRoom(o.hold, o.do == turns.TxnAgain)
	}
}

// tellRoom tells the transactions of a hold that wait for room.
func (c *Calls) tellRoom(h *hold, again bool) {
	c.mu.Lock()
	room := slices.Clone(h.room)
	h.room = nil
	c.mu.Unlock()
	for _, r := range room {
		r <- again
	}
}

// makeRoomOnStack has the stack grow at once to the size that a hand-over needs: the lock actor, the
// session, and the next holder's lock actor run on the goroutine that gives back. One that has waited
// for long has a small stack, which would be copied three times, frame by frame, while nobody holds.
// That was a quarter of the client's time of a hand-over, where each of 60 000 goroutines locks once.
//
//go:noinline
func makeRoomOnStack(at int) byte { // of which the compiler must not know that it is always zero
	var room [8 << 10]byte // with 4 KiB the stack still had to grow
	return room[at]
}
