package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// connect takes note of a new connection.
func (c *Coordinator) connect(timeout time.Duration) {
	c.epoch.connection, c.epoch.timeout = connected, timeout
	c.beatAnew() // first: thousands of orders may have waited for the connection, and the lease may be about to end
	c.tellAll(machine.Event{Kind: machine.Connected})
	orders := c.epoch.parked
	c.epoch.parked = nil
	for _, p := range orders {
		if r := c.requests[p.request]; r != nil && r.life != ended {
			c.carryOut(r, p.effect)
		}
	}
	for _, r := range c.inOrder() {
		c.goOnRemoving(r)
	}
	c.lookAtAll()
	c.beat()
}

// disconnect takes note that the connection is lost. The servers forget our watches with it, and nobody sets them again
// but the machines, once each has found out where it stands.
func (c *Coordinator) disconnect() {
	c.epoch.connection = disconnected
	for _, p := range c.epoch.paths {
		p.listing, p.children = nil, nil
		c.forgetIdentity(p)
		clear(p.watchers)
		for _, q := range p.queues {
			c.stop(q.cohort.timer)
			q.cohort = cohort{} // the machines ask again
		}
	}
	for _, r := range c.inOrder() {
		c.endWait(r)
		r.own, r.node.line = ownWatch{}, nil
		r.pace.voided()
		r.sharing.inLine, r.sharing.with = false, nil
	}
	c.releaseAll() // what would tell of others who want the lock is lost
	c.tellAll(machine.Event{Kind: machine.Disconnected})
	c.watchLease()
}

// expire ends the epoch and begins the next: every node of it is gone, or goes with the connection that is closed, and
// nothing of it may be believed any more.
func (c *Coordinator) expire() {
	if c.epoch.connection == connected { // machines are promised this order
		c.tellAll(machine.Event{Kind: machine.Disconnected, Reason: messages.ReasonSessionExpired})
	}
	// Then a server has said so in its answer to a request, and not to a connect request. A session that has lapsed is
	// replaced, whatever was asked for.
	if c.epoch.connection == connected && !c.epoch.lapsed {
		c.heedEnd()
	}
	all, places := c.inOrder(), c.places()
	c.epoch = newEpoch(c.epoch.number+1, c.timeout)
	c.urgent = false // of a connection that is gone
	for _, r := range all {
		if r.life == ended {
			delete(c.requests, r.id)
		} else {
			c.reset(r)
		}
	}
	c.restore(places)
	c.emit(NewEpoch{c.epoch.number})
	c.tellAll(machine.Event{Kind: machine.Expired}) // with the new epoch: what is decided on it belongs there
}

// tellUrgency says whether anything is held, when that has changed. A grant of which the session hears only while it is
// disconnected counts too. For waiters it is not urgent, for their nodes last as long as the session.
func (c *Coordinator) tellUrgency() {
	holds := c.epoch.held > 0
	for _, p := range c.epoch.parked {
		holds = holds || p.effect.Do == machine.WatchOwn
	}
	if holds != c.urgent {
		c.urgent = holds
		c.emit(Urgent{holds})
	}
}
