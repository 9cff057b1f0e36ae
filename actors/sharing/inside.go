package sharing

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// CountInside counts the calls that wait without a node of their own.
func (c *Calls) CountInside() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turns.WithoutNode()
}

// Inside gives the first calls for locks at a root and below that wait without a node of their own,
// in order, and counts all.
func (c *Calls) Inside(root string, most int) (first []messages.Contender, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []turns.Standing
	for s := range c.turns.Standings {
		if s.Waits() && s.Hold == 0 && queue.IsBelow(root, s.Want.Path) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b turns.Standing) int { return cmp.Compare(a.Number, b.Number) })
	for i := range min(most, len(found)) {
		first = append(first, c.describe(&found[i], ""))
	}
	return first, len(found)
}

// Nodes describes calls for locks at a root and below: for each shared node, who has it, and who
// waits behind it without one, in order.
func (c *Calls) Nodes(root string) (all []messages.Contender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := map[turns.HoldID]bool{}
	for s := range c.turns.Standings {
		h := c.holds[s.Behind]
		if h == nil || !queue.IsBelow(root, h.want.Path) {
			continue
		}
		switch node := h.nodeNow(); {
		case node == "":
		case !known[h.ID] && (!s.Waits() || !h.holds):
			known[h.ID] = true
			all = append(all, c.describe(&s, node))
		case !s.Waits(): // readers: one of them is seen
		case s.Want.Mode == messages.Semaphore, s.Want.Mode == messages.Read && s.Want.Cohort < 2: // they do not wait for one node
		default:
			waits := c.describe(&s, "")
			waits.WaitsFor = []string{node}
			all = append(all, waits)
		}
	}
	return all
}

func (c *Calls) describe(s *turns.Standing, node string) messages.Contender {
	w, e := s.Want, c.entry(s.Call)
	at := messages.Contender{Path: w.Path, Node: node, Mode: w.Mode, Name: w.Name, Library: messages.LibraryTurnstile,
		ID: "call-" + strconv.FormatUint(uint64(s.Call), 16) + "@" + c.system}
	if w.Mode == messages.Semaphore {
		at.Weight = max(w.Weight, 1)
	}
	if c.session != nil {
		at.Session = c.session.ID()
	}
	var h *hold
	if e != nil {
		if h = e.hold; h == nil {
			h = c.holds[s.Hold]
		}
	}
	o := queue.OwnerHere("")
	if h != nil && h.lock.Load() != nil {
		o.Actor = messages.IDOf(h.lock.Load()).Key(c.system)
	}
	o.Owner, o.Caller, o.Label, o.Priority = w.Owner, w.Caller, w.Label, w.Priority
	o.Detects = w.Deadlocks.Every > 0
	if e != nil {
		o.Since = c.base.Add(e.at).UTC()
	}
	o.Describe(&at)
	switch {
	case w.Caller != "":
	case e != nil && e.hold != nil:
		at.Who = e.hold.Caller(s.Call)
	default:
		at.Who = queue.Caller(at.ID)
	}
	return at
}

func (h *hold) nodeNow() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.node
}

// Where says where a waiting call stands, for people.
type Where struct {
	State   messages.State
	Node    string // its own; "" for none
	Trouble string // what keeps the servers from carrying it out
	Behind  messages.Contender
}

// Where says where a call stands; zero for one that has ended.
func (c *Calls) Where(id turns.CallID) (w Where) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.where(id)
}

func (c *Calls) where(id turns.CallID) (w Where) {
	e := c.entry(id)
	if e == nil {
		return w
	}
	before, own := c.turns.Before(id)
	if h := c.holds[own]; h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		w.State, w.Node, w.Trouble = h.waited, h.node, h.trouble
		if h.predecessor != nil && (w.State == messages.StateWatching || w.State == messages.StateListing) {
			w.Behind = h.predecessor.Contender(e.want.Path)
		}
		return w
	}
	w.State = messages.StateWatching
	if h := c.holds[before.Behind]; h != nil {
		h.mu.Lock()
		w.Trouble = h.trouble
		node, silent := h.node, h.state == messages.StateRecovering || !h.holds && h.predecessor == nil
		h.mu.Unlock()
		if node == "" {
			w.State = messages.StateCreating
			return w
		}
		if silent && c.session == nil {
			return w // over a gateway this alone tells that no server answers
		}
		w.Behind = c.describe(&before, node)
		w.Behind.ID = ""
	}
	return w
}

// tellInside tells a call that begins to wait which call of its client is before it. The mutex is held.
func (c *Calls) tellInside(id turns.CallID) {
	if e := c.entry(id); e != nil && e.told != nil {
		c.tellBehind(e, c.where(id).Behind)
	}
}

// tellFirst tells the first call behind a hold. The mutex is held.
func (c *Calls) tellFirst(h *hold) {
	h.mu.Lock()
	before := h.predecessor
	h.mu.Unlock()
	e := c.entry(c.turns.FirstBehind(h.ID))
	if before == nil || e == nil {
		return
	}
	if e.first = h; e.told == nil {
		return
	}
	if behind := before.Contender(e.want.Path); audience.IsRead(behind) {
		c.tellBehind(e, behind)
	}
}

func (c *Calls) tellBehind(e *entry, behind messages.Contender) {
	if who := e.told; behind.HasNode() {
		c.later(c.lane(e.want.Path), func() { who.Behind(behind) })
	}
}

// beginProbes looks for deadlocks for a call that waits without a node. The mutex is held.
func (c *Calls) beginProbes(e *entry) {
	if c.session == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	id, want := e.id, e.want
	e.probe = cancel
	name := c.describe(&turns.Standing{Call: id, Want: want}, "").ID
	go func() {
		defer cancel()
		tick := time.NewTicker(want.Deadlocks.Every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if !c.waitsInside(id) { // its lock actor looks
				continue
			}
			answer, err := c.session.Ask(ctx, &inspect.DeadlockProbe{Root: want.Deadlocks.Root, Node: name})
			if found, ok := answer.(*inspect.DeadlockProbed); err == nil && ok && found.Deadlock != nil {
				c.withdraw(id, messages.ReasonDeadlock, found.Deadlock)
				return
			}
			if err != nil && ctx.Err() == nil { // the session has ended
				return
			}
		}
	}()
}

// waitsInside reports whether a call waits without a node of its own, or with one that others have
// first.
func (c *Calls) waitsInside(id turns.CallID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.turns.Stands(id)
	h := c.holds[s.Hold]
	return s.Waits() && (s.Hold == 0 || h != nil && h.Shared && s.Behind != s.Hold)
}
