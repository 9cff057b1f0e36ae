package actors

import "github.com/turnstile-locks/turnstile/actors/machine"

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

// park keeps an order until there is a connection. That of a contender that was granted its lock when the connection was
// just lost says that it holds.
func (s *session) park(c *contender, o *order) {
	s.parked = append(s.parked, parked{c, o.Effect})
	s.grantedWhileDown = s.grantedWhileDown || o.Do == machine.WatchOwn
}

// hurry tells the connection whether anything is held, when that has changed. A grant that the session hears of only
// while it is disconnected counts too.
func (s *session) hurry() {
	holds := s.held > 0 || s.grantedWhileDown
	switch {
	case holds && s.hurries != s.link:
		s.link.Hurry(true)
		s.hurries = s.link
	case !holds && s.hurries != nil:
		s.hurries.Hurry(false)
		s.hurries = nil
	}
}
