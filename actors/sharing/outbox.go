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
	todo     []func()
	spare    []func() // carried out last, to be used again
	attended bool     // a goroutine carries it out, or is about to
}

type outbox struct {
	lanes [64]lane
	mine  []*lane // that the present input has to attend
	seed  maphash.Seed
	// urgent takes what an input ends that cannot wait for the queue; else nil. more is of the input's
	// lock actor.
	urgent *[]func()
	more   More
}

func (o *outbox) lane(path string) *lane {
	return &o.lanes[maphash.String(o.seed, path)%uint64(len(o.lanes))]
}

func (o *outbox) later(in *lane, do func()) {
	if in.todo = append(in.todo, do); !in.attended {
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
		h := c.holds[o.Hold]
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
			c.newHold(o)
		case turns.Cancel:
			h.leaves = true
			c.send(h, &messages.Cancel{Reason: cancel})
		case turns.Release:
			h.leaves = true
			c.send(h, &messages.Release{})
		case turns.Check:
			c.send(h, &messages.Check{})
		case turns.WatchContention:
			c.send(h, &messages.WatchContention{})
		}
	}
}

func (c *Calls) send(h *hold, command any) {
	c.later(h.lane, func() {
		makeRoomOnStack(0)
		c.root.Send(h.lock.Load(), command)
	})
}

func (c *Calls) granted(o *turns.Output, h *hold) {
	e := c.entry(o.Call)
	if h.grants == 0 || e.at < h.freedAt {
		e.meter.HandedOff(h.handoff)
	}
	e.meter.Grants()
	h.grants++
	if e.hold = h; e.told != nil {
		e.told = nil
		c.hearing.Add(-1)
	}
	if e.probe != nil {
		e.probe()
	}
	if then := e.who.Granted(e.id, &h.Hold, o.Token); then != nil {
		c.later(h.lane, then)
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
	c.refuse(e, why, detail, c.more)
}

func (c *Calls) refuse(e *entry, why messages.Reason, detail string, more More) {
	who := e.who
	e.meter.Leaves(why, false)
	c.later(c.lane(e.want.Path), func() { who.Refused(why, detail, more) })
	c.forget(e)
}

func (c *Calls) told(o *turns.Output) {
	e := c.entry(o.Call)
	h, who, state, until := e.hold, e.who, o.State, time.Time{}
	ends, why, detail := false, o.Reason, o.Detail
	switch state {
	case messages.StateRevoking:
		if o.Deadline > 0 {
			until = c.base.Add(o.Deadline)
		}
		e.meter.Asked()
	case messages.StateReleased:
		state, ends = messages.StateReleasing, true
		e.meter.Forced()
		h.awaited = append(h.awaited, who)
	case messages.StateLost:
		ends = true
	}
	if ends {
		e.meter.Leaves(why, state == messages.StateLost)
		c.forget(e)
	}
	tell := func() { who.Told(state, until, why, detail) }
	if ends && c.urgent != nil {
		*c.urgent = append(*c.urgent, tell)
	} else {
		c.later(h.lane, tell)
	}
}

// roundsAttended bounds how often a goroutine, which has work of its own, empties a queue.
const roundsAttended = 8

// settle gives up the mutex, and carries out what the input has led to, unless another goroutine
// does.
func (c *Calls) settle() {
	c.take(messages.ReasonNone)
	if c.figures != nil {
		if n := c.turns.WithoutNode(); n != c.counted {
			c.figures.Add("turnstile.session.inside", n-c.counted)
			c.counted = n
		}
	}
	if c.live == 0 {
		for _, none := range c.none {
			close(none)
		}
		c.none = nil
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
		for _, do := range batch {
			do()
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
