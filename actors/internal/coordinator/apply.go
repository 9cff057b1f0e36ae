package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Apply takes one input and gives the outputs that the shell is to carry out, in order. They are
// valid until the next call.
func (c *Coordinator) Apply(in Input, at At) []Output {
	c.at = at
	clear(c.out)
	c.out = c.out[:0]
	switch in := in.(type) {
	case *Order:
		c.order(in)
	case Ended:
		c.abandon(in.Request)
	case *Reply:
		c.replied(in)
	case Changed:
		c.changed(in)
	case Connected:
		c.connect(in.Timeout)
	case Disconnected:
		c.disconnect()
	case Lapsed:
		c.epoch.lapsed = true
		c.checkLease() // first: a holder has lost the lock for that, and not for the expiry that follows
	case Expired:
		c.expire()
	case Fired:
		c.fired(in.Timer)
	case Others:
		c.epoch.load.others += in.Change
	}
	if c.doomed {
		c.doomed = false
		c.expire()
	}
	if len(c.epoch.burstsOver) > 0 {
		c.endBursts()
	}
	return c.out
}

func (c *Coordinator) replied(reply *Reply) {
	what := c.epoch.asked[reply.ID]
	delete(c.epoch.asked, reply.ID)
	if what != nil {
		c.checkLease()
		c.countOutcome(what, reply.Answer)
	}
	if c.isStale(what, reply.ID) {
		c.stale++
	} else {
		what.answered(c, reply.ID, reply.Answer)
	}
}

func (c *Coordinator) fired(timer uint64) {
	what := c.epoch.timers[timer]
	delete(c.epoch.timers, timer)
	switch what.kind {
	case CreatesTimer, DeletesTimer:
		c.delayOver(what)
	case ReadTimer:
		c.readsDue()
	case RetryTimer:
		c.retryRemoval(what)
	case BeatTimer:
		c.beatNow()
	case LateTimer:
		c.beatLate()
	case LeaseTimer:
		c.epoch.leaseTimer = 0
		c.checkLease()
	case LookTimer:
		c.lookAgain(c.epoch.paths[what.path])
	case PauseTimer:
		c.pauseOver(what)
	case WatchTimer:
		// A watch has told nothing for a session timeout. The next create is listed, and sets another.
		if p := c.epoch.paths[what.path]; p != nil && p.identity.timer == timer {
			p.identity = identity{}
		}
	case CreateTimer:
		c.lookLate()
	}
}

// changed passes an event of a watched node on to the requests that asked for it, and to no others.
func (c *Coordinator) changed(in Changed) {
	parent, name := split(in.Path)
	if p := c.epoch.paths[parent]; p != nil && in.Change != ChildrenChanged {
		c.hear(name, p.take(name), in.Change)
	}
	p := c.epoch.paths[in.Path]
	if p == nil {
		return
	}
	if in.Change != ChildrenChanged {
		c.forgetIdentity(p) // it is gone, or its watch is spent
		c.hear("", p.take(""), in.Change)
	}
	if in.Change != DataChanged {
		c.hear("", p.take(children), in.Change)
	}
}

// Awaits reports whether changed has anybody to tell of an event of a path: of its list of children, or of its data and its
// end. The servers may forget a watch for which it is false. Whoever asks for one registers first, and asks anew each time.
func (c *Coordinator) Awaits(path string, list bool) bool {
	p := c.epoch.paths[path]
	if list {
		return p != nil && len(p.watchers[children]) > 0
	}
	parent, name := split(path)
	above := c.epoch.paths[parent]
	return above != nil && len(above.watchers[name]) > 0 ||
		p != nil && (p.identity.ask != 0 || len(p.watchers[""]) > 0)
}

// hear passes an event on to watchers, which are not registered any more.
func (c *Coordinator) hear(name string, all []watcher, change Change) {
	for _, w := range all {
		switch w.role {
		case holds:
			c.ownChanged(c.requests[w.request], name, change)
		case attends:
			c.watchContention(c.requests[w.request])
		default:
			c.waitChanged(c.requests[w.request], name, change, false)
		}
	}
}

func (c *Coordinator) connect(timeout time.Duration) {
	c.epoch.connected, c.epoch.timeout = true, timeout
	c.beatAnew() // first: thousands of orders may have waited for the connection, and the lease may be about to end
	c.tellAll(machine.Event{Kind: machine.Connected})
	orders := c.epoch.parked
	c.epoch.parked = nil
	for _, p := range orders {
		if r := c.requests[p.request]; r != nil && r.life != ended {
			c.execute(r, p.effect)
		}
	}
	for _, r := range c.inOrder() {
		c.goOnRemoving(r)
	}
	c.lookAnew()
	c.beat()
}

// disconnect takes note that the connection is lost. The servers forget our watches with it, and
// only the machines set them again, once each has verified its node.
func (c *Coordinator) disconnect() {
	c.epoch.connected = false
	for _, p := range c.epoch.paths {
		p.listing = nil
		c.stopLooking(p)
		c.forgetIdentity(p)
		clear(p.watchers)
	}
	for _, r := range c.inOrder() {
		c.endWait(r)
		r.own, r.asks, r.search = ownWatch{}, holderAsks{}, 0
		r.pace.voided()
	}
	c.tellAll(machine.Event{Kind: machine.Disconnected})
	c.watchLease()
}

// expire ends the epoch and begins the next: every node of it is gone, or goes with the connection that is closed, and
// nothing of it may be believed any more.
func (c *Coordinator) expire() {
	if c.epoch.connected { // machines are promised this order
		c.tellAll(machine.Event{Kind: machine.Disconnected, Reason: messages.ReasonSessionExpired})
	}
	// While connected, a server has said so in its answer to a request, and not to a connect
	// request. A lapsed session is replaced in any case, so its end says nothing about the creates.
	if c.epoch.connected && !c.epoch.lapsed {
		c.countExpiry()
	}
	all := c.inOrder()
	c.epoch = newEpoch(c.epoch.number+1, c.timeout, c.seed)
	for _, r := range all {
		if r.life == ended {
			delete(c.requests, r.id)
		} else {
			c.reset(r)
			c.recount(r)
		}
	}
	c.emit(NewEpoch{c.epoch.number})
	c.tellAll(machine.Event{Kind: machine.Expired}) // in the new epoch: orders that follow from it belong there
}
