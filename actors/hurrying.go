package actors

// Reconnecting is urgent while a lock is held, until the lease has ended: see [zkconn.Conn.Hurry]. Waiters are in no
// hurry, for their nodes last as long as the session.

// setGranted notes whether a contender holds.
func (s *session) setGranted(c *contender, granted bool) {
	switch {
	case granted && !c.granted:
		s.held++
	case !granted && c.granted:
		s.held--
	}
	c.granted = granted
}

// hurry tells the connection whether anything is held, when that has changed. A grant that the session hears of only
// while it is disconnected counts too.
func (s *session) hurry() {
	holds := s.held > 0 || s.grantedWhileDown
	switch {
	case holds && s.hurries != s.link:
		s.link.Hurry(s.lease.clock.Deadline)
		s.hurries = s.link
	case !holds && s.hurries != nil:
		s.hurries.Hurry(nil)
		s.hurries = nil
	}
}
