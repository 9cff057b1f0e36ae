package coordinator

// Apply takes one input and gives what is to be done, in order. The outputs are valid until the next call.
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
		c.checkLease() // first: whoever held has lost it for that, and not for the expiry that follows
	case Expired:
		c.expire()
	case Fired:
		c.fired(in.Timer)
	case Others:
		c.others(in)
	}
	if c.doomed {
		c.doomed = false
		c.expire()
	}
	c.giveTurns()
	for len(c.epoch.again) > 0 {
		c.tryAgain()
		c.giveTurns()
	}
	c.endRuns()
	c.tellUrgency()
	return c.out
}

// replied takes an answer to whom it is for.
func (c *Coordinator) replied(reply *Reply) {
	what := c.epoch.asked[reply.ID]
	delete(c.epoch.asked, reply.ID)
	if what != nil {
		c.checkLease()
		c.heed(what, reply.Answer)
	}
	if c.lapsed(what, reply.ID) {
		c.stale++
	} else {
		what.answered(c, reply.ID, reply.Answer)
	}
}

// fired takes a timer to whom it is for.
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
	case RetentionTimer:
		c.retentionOver(what)
	case BeatTimer:
		c.beatNow()
	case LateTimer:
		c.beatLate()
	case LeaseTimer:
		c.epoch.leaseTimer = 0
		c.checkLease()
	case SearchTimer:
		c.searchAgain(what)
	case CohortTimer:
		c.cohortOver(what)
	case DescribeTimer:
		c.describeDue()
	case PauseTimer:
		c.pauseOver(what)
	case WatchTimer:
		c.watchIsOld(what.path, timer)
	}
}

// changed gives an event of something that is watched to those who asked for it, and to nobody else.
func (c *Coordinator) changed(in Changed) {
	parent, name := split(in.Path)
	if p := c.epoch.paths[parent]; p != nil && in.Change != ChildrenChanged {
		c.hear(p, name, p.take(name), in.Change)
	}
	p := c.epoch.paths[in.Path]
	if p == nil {
		return
	}
	if in.Change != ChildrenChanged {
		c.forgetIdentity(p) // it is gone, or its watch is spent
		c.hear(p, "", p.take(""), in.Change)
	}
	if in.Change != DataChanged {
		all := p.children
		p.children = nil
		c.hear(p, "", all, in.Change)
	}
}

// hear takes news for watchers, who are not registered any more.
func (c *Coordinator) hear(p *lockPath, name string, all []watcher, change Change) {
	for _, w := range all {
		switch w.role {
		case holds:
			c.ownChanged(c.requests[w.request], name, change)
		case retains:
			c.arrived(p, w.node, change != ChildrenChanged)
		case serves:
			c.served(p, w.node, change)
		default:
			c.hearOfOther(w, name, change, false)
		}
	}
}
