package actors

import "github.com/turnstile-locks/turnstile/zkconn/logkeys"

// logged is what every record about a request has, and more of it.
func (l *lock) logged(more ...any) []any {
	var session int64
	if l.info != nil {
		session = l.info.session
	}
	return append([]any{logkeys.Path, l.want.Path, logkeys.Node, l.m.Node, logkeys.State, l.m.State.String(),
		logkeys.Session, logkeys.SessionID(session), logkeys.Token, int64(l.m.Token)}, more...)
}

// logged is what every record about a session has, and more of it.
func (s *session) logged(more ...any) []any {
	return append([]any{logkeys.Session, logkeys.SessionID(s.info.session), logkeys.Epoch, s.info.epoch}, more...)
}
