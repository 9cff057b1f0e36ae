package sharing

import (
	"cmp"
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Source spawns the lock actors of holds: an *actors.Session, or gateways.
type Source interface {
	// SpawnLock is actors.Session.SpawnLock.
	SpawnLock(want *messages.Acquire, to actors.Listener, observers []*actor.PID) *actor.PID
	// Clock gives the lease clock of an epoch.
	Clock(epoch uint64) *zkconn.LeaseClock
	// Timeout is the session timeout.
	Timeout() time.Duration
}

// Calls has the calls of one client, and their holds. Safe for concurrent use.
type Calls struct {
	source  Source
	session *actors.Session // the source, if it is one
	figures *figures.Figures
	root    *actor.RootContext
	system  string
	base    time.Time
	lease   atomic.Pointer[lease]

	mu      sync.Mutex
	reading reading // of the lease, for the present input
	newest  reading // of the newest hold, by epoch and term
	turns   *turns.Turns
	entries []entry // by the lower half of a CallID; a map costs a third of a hand-over in memory
	holds   map[turns.HoldID]*hold
	counted int          // calls that wait without a node, as last counted
	live    int          // calls and lock actors that have not ended
	hearing atomic.Int32 // calls that wait and are told whom they wait for
	none    []chan struct{}
	outbox
}

// New has a client's calls share holds, whose lock actors a source spawns in an actor system.
func New(from Source, in *actor.ActorSystem) *Calls {
	c := &Calls{source: from, root: in.Root, system: in.ID, base: time.Now(),
		holds: map[turns.HoldID]*hold{}}
	c.seed = maphash.MakeSeed()
	bounds := turns.DefaultBounds()
	if c.session, _ = from.(*actors.Session); c.session != nil {
		c.figures = c.session.Figures()
		bounds.Waiting = cmp.Or(c.session.MaxWaiting(), bounds.Waiting)
	}
	if c.turns = turns.New(bounds); c.session != nil {
		c.session.AskInside(c)
	}
	return c
}

type lease struct {
	epoch uint64
	clock *zkconn.LeaseClock
}

type reading struct {
	epoch, term uint64
	valid       bool
}

// Unbroken reports whether a hold is certainly held now. Over a gateway its clock asks no user's
// function.
func (c *Calls) Unbroken(epoch, term uint64) bool {
	if c.session == nil {
		return c.source.Clock(epoch).Unbroken(term)
	}
	return c.reading == reading{epoch, term, true}
}

func (r *reading) before(other reading) bool {
	return r.epoch < other.epoch || r.epoch == other.epoch && r.term < other.term
}

// begin reads the clocks and takes the mutex, in this order: a user's function may hold up the
// clock of the lease. While begin waits for the mutex, lease 1 ends, and hold h is granted under
// lease 2. By the reading of lease 1 h is over, and nothing would wake the call that waits for it:
// so the clocks are read again.
func (c *Calls) begin() turns.Moment {
	for {
		var r reading
		if l := c.lease.Load(); l != nil {
			r.epoch = l.epoch
			r.term, r.valid = l.clock.Term()
		}
		m := c.beginBy(r)
		if c.session == nil || !r.before(c.newest) {
			return m
		}
		c.mu.Unlock()
	}
}

func (c *Calls) beginBy(r reading) turns.Moment {
	c.mu.Lock()
	c.reading = r
	return turns.Moment{At: time.Since(c.base), Lease: c}
}

// Call begins a call, within a lease of the same lock or 0. want is good (actors.CheckAcquire), and
// does not change. The call may be granted or refused when Call returns.
func (c *Calls) Call(want *turns.Want, within turns.CallID, who Call) turns.CallID {
	meter, err := c.figures.Request(want.Mode, want.Path)
	if err != nil { // a user's function has panicked
		who.Refused(messages.ReasonBadInput, err.Error(), More{})
		return 0
	}
	told, _ := who.(Waiter)
	if want.Alone {
		who = c.observing(who)
	}
	m := c.begin()
	id := c.turns.Call(m, want, within)
	for int(uint32(id)) >= len(c.entries) {
		c.entries = append(c.entries, entry{})
	}
	c.entries[uint32(id)] = entry{id: id, who: who, want: want, at: m.At, meter: meter, told: told}
	c.live++
	if told != nil {
		c.hearing.Add(1)
	}
	c.take(messages.ReasonNone)
	if told != nil {
		c.tellInside(id)
	}
	if e := c.entry(id); e != nil && e.hold == nil && want.Deadlocks.Every > 0 {
		c.beginProbes(e)
	}
	c.settle()
	return id
}

// Withdraw ends a call. One that waits is refused, for that reason. One that holds gives back.
func (c *Calls) Withdraw(id turns.CallID, why messages.Reason) (waited bool) {
	if waited = c.withdraw(id, why, nil); !waited {
		c.GiveBack(id)
	}
	return waited
}

func (c *Calls) withdraw(id turns.CallID, why messages.Reason, of *messages.Deadlock) (waited bool) {
	m := c.begin()
	e := c.entry(id)
	if e == nil || e.hold != nil {
		c.mu.Unlock()
		return false
	}
	_, own := c.turns.Before(id)
	first := cmp.Or(e.first, c.holds[own])
	c.turns.Withdraw(m, id)
	c.refuse(e, why, "", More{Deadlock: of})
	c.take(why)
	if first != nil && c.hearing.Load() > 0 {
		c.tellFirst(first)
	}
	c.settle()
	return true
}

// GiveBack ends a call that holds. The final state may be told before GiveBack returns.
func (c *Calls) GiveBack(id turns.CallID) {
	m := c.begin()
	e := c.entry(id)
	if e == nil || e.hold == nil {
		c.mu.Unlock()
		return
	}
	h, who := e.hold, e.who
	state, why := messages.StateReleased, messages.ReasonReleased
	if !c.Unbroken(h.Epoch, h.Term) {
		state, why = messages.StateLost, c.whyOver(h.Clock)
	}
	h.handoff, h.freedAt = figures.Handoff{At: c.figures.Now(), Local: true}, m.At
	e.meter.Leaves(why, state == messages.StateLost)
	c.turns.GiveBack(m, id)
	c.forget(e)
	c.take(messages.ReasonNone)
	stays := !h.leaves && h.txns == 0 && !h.over
	if !stays {
		h.awaited = append(h.awaited, who)
	}
	c.settle()
	if stays {
		who.Told(state, time.Time{}, why, "")
	}
}

// TxnBegun: a call begins a transaction; false where it does not hold any more.
func (c *Calls) TxnBegun(id turns.CallID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(id)
	if e == nil || e.hold == nil {
		return false
	}
	c.turns.TxnBegun(id)
	e.hold.txns++
	return true
}

// TxnEnded: see turns.Turns.TxnBegun.
func (c *Calls) TxnEnded(of *Hold, fenced bool) {
	m := c.begin()
	h := c.holds[of.ID]
	if h == nil {
		c.mu.Unlock()
		return
	}
	h.txns--
	c.turns.TxnEnded(m, h.ID, fenced)
	c.take(messages.ReasonNone)
	var stay []Call
	if h.txns == 0 && !h.leaves {
		stay, h.awaited = h.awaited, nil
	}
	c.settle()
	for _, who := range stay {
		who.Told(messages.StateReleased, time.Time{}, messages.ReasonReleased, "")
	}
}

// TxnRefused: a transaction of a hold was refused with ReasonSessionFull. It waits until kept holds
// may have gone; false: there will be no room.
func (c *Calls) TxnRefused(ctx context.Context, of *Hold) (again bool) {
	pause := c.turns.TxnRefused(c.begin(), of.ID)
	c.settle()
	if pause == 0 {
		return false
	}
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// Close: the client ends. Nothing is kept any more.
func (c *Calls) Close() {
	c.turns.Close(c.begin())
	c.settle()
}

// Wait waits until all calls and all lock actors have ended; false when ctx ends first.
func (c *Calls) Wait(ctx context.Context) bool {
	c.mu.Lock()
	none := make(chan struct{})
	c.none = append(c.none, none)
	c.settle()
	select {
	case <-none:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *Calls) entry(id turns.CallID) *entry {
	if slot := int(uint32(id)); id != 0 && slot < len(c.entries) && c.entries[slot].id == id {
		return &c.entries[slot]
	}
	return nil
}

func (c *Calls) forget(e *entry) {
	if e.probe != nil {
		e.probe()
	}
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.told != nil {
		c.hearing.Add(-1)
	}
	*e = entry{}
	c.live--
}
