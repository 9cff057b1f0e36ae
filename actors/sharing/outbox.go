package sharing

import (
	"hash/maphash"
	"time"

	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// lane has what is to be done about the locks of some paths, in order. Of several lanes, a stuck
// goroutine holds up one.
type lane struct {
	todo     []task
	spare    []task // carried out last, to be used again
	attended bool   // a goroutine carries it out, or is about to
}

type task struct {
	do      func() // if not nil, all that is to be done
	hold    *hold  // if not nil, its lock actor is sent a command, or spawned for nil
	command any
	who     Call
	news
}

type news struct {
	state  messages.State
	until  time.Time
	why    messages.Reason
	detail string
}

func (t *task) carryOut() {
	switch h := t.hold; {
	case t.do != nil:
		t.do()
	case h == nil:
		t.who.Told(t.state, t.until, t.why, t.detail)
	case t.command == nil: // SpawnLock may return after all that becomes of the lock actor was told
		lock := h.calls.source.SpawnLock(h.want, h, h.observers)
		h.mu.Lock()
		h.lock = lock
		h.mu.Unlock()
	default:
		makeRoomOnStack(0)
		h.calls.root.Send(h.pid(), t.command)
	}
}

type outbox struct {
	lanes [64]lane
	mine  []*lane // that the present input has to attend
	seed  maphash.Seed
	// urgent takes what an input ends that cannot wait for the queue; else nil. deadlock is the one
	// for which an input's lock actor gave up.
	urgent   *[]task
	deadlock *messages.Deadlock
}

func (o *outbox) lane(path string) *lane {
	return &o.lanes[maphash.String(o.seed, path)%uint64(len(o.lanes))]
}

func (o *outbox) later(in *lane, t task) {
	if in.todo = append(in.todo, t); !in.attended {
		in.attended = true
		o.mine = append(o.mine, in)
	}
}

// take takes what an input has led to. cancel is the reason for lock actors. The mutex is held.
func (c *Calls) take(cancel messages.Reason) {
	all := c.turns.Take()
	for _, o := range all {
		if o.Do == turns.Refuse && cancel == messages.ReasonNone { // a reason for cancelling its lock actor, too
			cancel = o.Reason
		}
	}
	for i := range all {
		o := &all[i]
		h := c.hold(o.Hold)
		switch o.Do {
		case turns.SetTimer:
			c.setTimer(o)
		case turns.Grant:
			c.granted(o, h)
		case turns.Refuse:
			c.refused(o, h)
		case turns.Tell:
			c.told(o)
		case turns.Ask:
			c.ask(o)
		case turns.Cancel:
			h.leaves = true
			c.unasked(h)
			c.later(h.lane, task{hold: h, command: &messages.Cancel{Reason: cancel}})
		case turns.Release:
			h.leaves = true
			c.later(h.lane, task{hold: h, command: &messages.Release{}})
		case turns.Check:
			c.later(h.lane, task{hold: h, command: &messages.Check{}})
		case turns.WatchContention:
			c.later(h.lane, task{hold: h, command: &messages.WatchContention{}})
		}
	}
}

func (c *Calls) granted(o *turns.Output, h *hold) {
	e := c.entry(o.Call)
	if h.grants == 0 || e.at < h.freedAt {
		e.meter.HandedOff(h.handoff)
	}
	e.meter.Grants()
	h.grants++
	e.hold = h
	c.waiting--
	if e.probe != nil {
		close(e.probe)
		e.probe = nil
	}
	if then := e.who.Granted(e.id, &h.Hold, o.Token); then != nil {
		c.later(h.lane, task{do: then})
	}
}

func (c *Calls) refused(o *turns.Output, by *hold) {
	e := c.entry(o.Call)
	why, detail := o.Reason, o.Detail
	if by != nil && detail == "" {
		if detail = "a node that has no name yet"; by.nodeNow() != "" {
			detail = "node " + by.nodeNow()
		}
	}
	c.refuse(e, why, detail, c.deadlock)
	e.meter.Leaves(why, false)
	c.waiting--
	c.forget(e)
}

func (c *Calls) refuse(e *entry, why messages.Reason, detail string, deadlock *messages.Deadlock) {
	who := e.who
	c.later(c.lane(e.want.Path), task{do: func() {
		if d, ok := who.(Deadlocked); ok && deadlock != nil {
			d.Deadlocked(*deadlock)
		}
		who.Refused(why, detail)
	}})
}

func (c *Calls) told(o *turns.Output) {
	e := c.entry(o.Call)
	h, tell := e.hold, task{who: e.who, news: news{state: o.State, why: o.Reason, detail: o.Detail}}
	ends := false
	switch o.State {
	case messages.StateRevoking:
		if o.Deadline > 0 {
			tell.until = c.base.Add(o.Deadline)
		}
		e.meter.Asked()
	case messages.StateReleased:
		tell.state, ends = messages.StateReleasing, true
		e.meter.Forced()
		h.awaited = append(h.awaited, e.who)
	case messages.StateLost:
		ends = true
	}
	if ends {
		e.meter.Leaves(tell.why, tell.state == messages.StateLost)
		c.forget(e)
	}
	if ends && c.urgent != nil {
		*c.urgent = append(*c.urgent, tell)
	} else {
		c.later(h.lane, tell)
	}
}

func (c *Calls) ask(o *turns.Output) {
	e := c.entry(o.Call)
	for o.Hold.Slot() >= len(c.holds) {
		c.holds = append(c.holds, nil)
	}
	if o, ok := e.who.(*observed); ok { // its lock actor tells them
		e.who = o.Own
	}
	h := c.newHold(o, e)
	c.holds[o.Hold.Slot()] = h
	c.asked++
	c.live++ // its lock actor
	c.later(h.lane, task{hold: h})
}

func (c *Calls) unasked(h *hold) {
	if h.asked {
		h.asked = false
		c.asked--
	}
}

// roundsAttended bounds how often a goroutine, which has work of its own, empties a queue.
const roundsAttended = 8

// settle gives up the mutex, and carries out what the input has led to, unless another goroutine
// does.
func (c *Calls) settle() {
	if c.figures != nil {
		if n := c.inside(); n != c.counted {
			c.figures.Add("turnstile.session.inside", n-c.counted)
			c.counted = n
		}
	}
	if len(c.mine) == 0 {
		c.mu.Unlock()
		return
	}
	first, others := c.mine[0], c.mine[1:]
	c.mine = c.mine[:0]
	for _, l := range others { // as when kept holds of other locks make room, or the client ends
		c.attendElsewhere(l)
	}
	c.attend(first, roundsAttended)
}

func (c *Calls) attendElsewhere(l *lane) {
	go func() {
		c.mu.Lock()
		c.attend(l, 1<<30)
	}()
}

// attend has the mutex, and gives it up.
func (c *Calls) attend(l *lane, rounds int) {
	for len(l.todo) > 0 {
		if rounds--; rounds < 0 {
			c.mu.Unlock()
			c.attendElsewhere(l)
			return
		}
		batch := l.todo
		l.todo = l.spare[:0]
		c.mu.Unlock()
		for i := range batch {
			batch[i].carryOut()
		}
		clear(batch)
		c.mu.Lock()
		l.spare = batch[:0]
	}
	l.attended = false
	c.mu.Unlock()
}

// makeRoomOnStack has the stack grow at once to the size that a hand-over needs: the lock actor,
// the session, and the next holder's lock actor run on the goroutine that gives back. After a long
// wait its stack is small, and would be copied three times while nobody holds: a quarter of the
// client's time of a hand-over, where each of 60 000 goroutines locks once.
//
//go:noinline
func makeRoomOnStack(at int) byte { // the compiler must not know that it is always zero
	var room [8 << 10]byte // with 4 KiB the stack still had to grow
	return room[at]
}
