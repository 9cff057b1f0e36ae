package machine

// Precede gives what a request has to hear before an event, because a process that was paused finds that its lease is over
// here, before anything else happens, and not when a timer gets round to it. unbroken tells whether the lease of its grant
// has not been over since. void: the event itself says nothing, for the lease was over before this grant.
func (m *Machine) Precede(ev Event, unbroken bool) (over Event, first, void bool) {
	switch {
	case !m.Holding():
	case unbroken:
		return over, false, ev.Kind == LeaseOver
	case ev.Kind == Disconnected: // the connection has gone with the session, where there is a reason
		return Event{Kind: LeaseOver, Reason: ev.Reason}, true, false
	case ev.Kind == LeaseOver || ev.Kind == Expired || ev.Kind == Closed || ev.Kind == NodeGone: // that says more
	default:
		return Event{Kind: LeaseOver}, true, false
	}
	return over, false, false
}
