package sharing

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

type hold struct {
	Hold
	lane      *lane
	want      *messages.Acquire
	observers []*actor.PID
	actors    *sync.WaitGroup // counts lock actors; nil for most
	meter     *figures.Request
	lock      atomic.Pointer[actor.PID]

	// Guarded by the mutex of the calls.
	grants  int
	txns    int
	handoff figures.Handoff // to the next call that has it
	freedAt time.Duration   // when a call last gave it back
	awaited []Call          // that wait for its end
	timer   *time.Timer
	more    More
	leaves  bool // it was told to end
	over    bool // it has told its end
	holds   bool // it has told Held
	overdue bool // its lease ended before that

	// Guarded by mu.
	state       messages.State
	waited      messages.State // the last in which it waited
	mu          sync.Mutex
	node        string
	predecessor audience.Predecessor
	trouble     string
}

func (c *Calls) newHold(o *turns.Output) {
	e := c.entry(o.Call)
	if watched, ok := e.who.(*observed); ok { // its lock actor tells them
		e.who = watched.Own
	}
	h := &hold{lane: c.lane(e.want.Path), want: &e.want.Acquire,
		state: messages.StateCreating, waited: messages.StateCreating, meter: e.meter.Below()}
	h.ID, h.Shared, h.calls, h.Turn = o.Hold, o.Shared, c, make(chan struct{}, 1)
	c.holds[h.ID] = h
	c.live++                 // its lock actor
	c.later(h.lane, func() { // SpawnLock may return after all that becomes of the lock actor was told
		h.lock.Store(c.source.SpawnLock(h.want, h, h.observers))
	})
	w := h.want
	more, grace := o.Shared || e.want.MaxWaiters > 0, time.Duration(0)
	if e.want.Alone {
		if own, ok := e.who.(Own); ok {
			if h.observers, h.actors = own.Observers(), own.LockActors(); h.actors != nil {
				h.actors.Add(1)
			}
		}
		if len(h.observers) > 0 { // they are told of it
			grace = w.Grace
		} else if c.session == nil { // otherwise a gateway shares it with other requesters
			more = true
		}
	}
	if w.Timeout == 0 && w.Grace == grace && w.TellMore == more && w.Try == o.Try && !o.Shared && o.Beside == 0 {
		return
	}
	own := *w
	w = &own
	w.Timeout, w.Grace, w.TellMore, w.Try = 0, grace, more, o.Try
	if o.Shared {
		w.Owner, w.Caller = "", ""
	}
	if writer := c.holds[o.Beside]; writer != nil && writer.Held != nil {
		w.Beside = writer.Held.Node
	}
	h.want = w
}

func (h *hold) Figures() *figures.Request { return h.meter }

func (h *hold) Moved(to messages.State, node string) {
	h.mu.Lock()
	h.state, h.node = to, node
	if to == messages.StateCreating { // in another queue, or another session
		h.predecessor = nil
	}
	if !to.Terminal() && to != messages.StateReleasing {
		h.waited = to
	}
	h.mu.Unlock()
	if to == messages.StateWatching { // for others
		h.input(func(m turns.Moment) { h.calls.turns.Waits(m, h.ID) })
	}
}

func (h *hold) WaitsFor(predecessor audience.Predecessor) {
	h.mu.Lock()
	h.predecessor = predecessor
	h.mu.Unlock()
	if c := h.calls; predecessor != nil && c.hearing.Load() > 0 {
		c.mu.Lock()
		c.tellFirst(h)
		c.settle()
	}
}

func (h *hold) Troubled(text string) {
	h.mu.Lock()
	h.trouble = text
	h.mu.Unlock()
	c := h.calls
	c.mu.Lock()
	told := append([]Call(nil), h.awaited...)
	for _, id := range c.turns.Users(h.ID) {
		if e := c.entry(id); e != nil {
			told = append(told, e.who)
		}
	}
	c.mu.Unlock()
	for _, who := range told {
		if own, ok := who.(Own); ok {
			own.Troubled(text)
		}
	}
}

func (h *hold) Hear(lock *actor.PID, notice any) {
	switch msg := notice.(type) {
	case *messages.Held:
		h.held(msg)
	case *messages.Revoked:
		h.urgently(func(m turns.Moment) { h.calls.turns.Hear(m, h.ID, msg) })
	case *messages.Released:
		h.end(messages.StateReleased, msg.Reason, "")
	case *messages.Lost:
		h.end(messages.StateLost, msg.Reason, msg.Detail)
	case *messages.Deadlocked:
		h.more.Deadlock = &msg.Deadlock
	case *messages.Cancelled:
		h.end(messages.StateCancelled, msg.Reason, msg.Detail)
	case *messages.Failed:
		h.more.Permits = msg.Permits
		h.end(messages.StateFailed, msg.Reason, msg.Detail)
	case *messages.Behind: // WaitsFor has told
	case *actor.Stopped:
		h.stopped()
	default:
		h.input(func(m turns.Moment) { h.calls.turns.Hear(m, h.ID, notice) })
	}
}

func (h *hold) input(give func(turns.Moment)) {
	c := h.calls
	give(c.begin())
	c.settle()
}

func (h *hold) held(msg *messages.Held) {
	c := h.calls
	h.Held, h.Clock = msg, c.source.Clock(msg.Epoch)
	for l := c.lease.Load(); (l == nil || l.epoch < msg.Epoch) && !c.lease.CompareAndSwap(l, &lease{msg.Epoch, h.Clock}); {
		l = c.lease.Load()
	}
	timeout := c.source.Timeout()
	h.Clock.Follow(msg.Term, h) // before it may be given back
	overdue := false
	h.input(func(m turns.Moment) {
		h.holds, overdue, h.handoff = true, h.overdue, h.meter.Handoff()
		if of := (reading{epoch: msg.Epoch, term: msg.Term}); c.newest.before(of) {
			c.newest = of
		}
		c.turns.Held(m, h.ID, msg, timeout)
	})
	if overdue {
		h.TermEnded()
	}
}

// TermEnded takes the end of the lease, without the clock, which a user's function may hold up.
func (h *hold) TermEnded() {
	c := h.calls
	why := c.whyOver(h.Clock)
	h.urgently(func(m turns.Moment) {
		if h.overdue = !h.holds; h.holds { // otherwise Held is on its way to turns
			c.turns.Lost(m, h.ID, why)
		}
	})
}

func (c *Calls) whyOver(clock *zkconn.LeaseClock) messages.Reason {
	switch {
	case c.session != nil && c.session.Err() != nil:
		return messages.ReasonSessionClosed
	case clock.Expired():
		return messages.ReasonSessionExpired
	}
	return messages.ReasonLeaseOver
}

// urgently gives turns an input that takes the hold from its calls, and tells them past the queue,
// without the session's clock, before it returns.
func (h *hold) urgently(give func(turns.Moment)) {
	var urgent []func()
	c := h.calls
	m := c.beginBy(reading{})
	c.urgent = &urgent
	give(m)
	c.take(messages.ReasonNone)
	c.urgent = nil
	c.mu.Unlock()
	for _, do := range urgent {
		do()
	}
	c.mu.Lock()
	c.settle()
}

func (h *hold) end(as messages.State, why messages.Reason, detail string) {
	if h.Clock != nil {
		h.Clock.Unfollow(h)
	}
	h.input(func(m turns.Moment) {
		c := h.calls
		h.over = true
		if h.timer != nil {
			h.timer.Stop()
		}
		c.more = h.more
		c.turns.Ended(m, h.ID, why, detail)
		c.take(messages.ReasonNone)
		c.more = More{}
		for _, who := range h.awaited {
			c.later(h.lane, func() { who.Told(as, time.Time{}, why, detail) })
		}
		h.awaited = nil
		delete(c.holds, h.ID)
	})
}

func (h *hold) stopped() {
	if !h.over { // not in order; only its lock actor notes that
		as := messages.StateFailed // never held
		if h.Held != nil {
			as = messages.StateLost
		}
		h.end(as, messages.ReasonStopped, "")
	}
	if h.actors != nil {
		h.actors.Done()
	}
	c := h.calls
	c.mu.Lock()
	c.live--
	c.settle()
}
