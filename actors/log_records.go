package actors

import "github.com/turnstile-locks/turnstile/zkconn/logkeys"

// logged is what every record about a request has, and more of it.
func (l *lock) logged(more ...any) []any {
	var session int64
	if l.lease != nil {
		session = l.lease.session
	}
	return append([]any{logkeys.Path, l.want.Path, logkeys.Node, l.m.Node, logkeys.State, l.m.State.String(),
		logkeys.Session, logkeys.SessionID(session), logkeys.Token, int64(l.m.Token)}, more...)
}

// logged is what every record about a session has, and more of it.
func (s *session) logged(more ...any) []any {
	return append([]any{logkeys.Session, logkeys.SessionID(s.lease.session), logkeys.Epoch, s.lease.epoch}, more...)
}

// loggedOf is what a record about a contender has whose lock actor has ended, and more of it.
func (s *session) loggedOf(c *contender, more ...any) []any {
	return append([]any{logkeys.Path, c.path, logkeys.Node, c.node, logkeys.Session, logkeys.SessionID(s.lease.session),
		logkeys.Token, int64(c.token)}, more...)
}
