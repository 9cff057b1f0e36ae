package zkconn

// Presenting the credentials. The library presents by itself, at every later connection and before anything else,
// the credentials that it was once given successfully; but it can only be given them on a connection with a session,
// by a call that waits for the reply. So the first connection is announced when a goroutine has done that.
//
// The connection may be lost and another made while that goroutine runs. A credential counts as given only when no
// connection was lost or made between the call and its return: the library remembers a credential after the reply has
// come, and by then may have made the next connection without it. What was cut is repeated on the next connection.

// authenticate runs until every credential is given, or the connection is gone.
func (s *session) authenticate() {
	for {
		index, generation := s.beginCredential()
		if index < 0 {
			return
		}
		err := s.add(s.credentials[index].scheme, s.credentials[index].secret)
		if !s.endCredential(index, generation, err) {
			return
		}
	}
}

// beginCredential gives the credential to present, on which generation of connections; -1 when there is nothing to
// do, and then the goroutine has to end.
func (s *session) beginCredential() (index int, generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	index = s.nextCredential()
	if index < 0 && s.up {
		s.announce()
	}
	if index < 0 || !s.up || s.closing {
		s.authenticating = false
		return -1, 0
	}
	return index, s.generation
}

// endCredential judges the attempt; it says whether to go on.
func (s *session) endCredential(index int, generation uint64, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if generation != s.generation {
		return true
	}
	if err == nil {
		s.added[index] = true
		return true
	}
	// Refused (the transport has told the session so), or cut and not yet noticed. The server closes the connection
	// either way; cutting it makes sure that another one follows, with which this begins again.
	s.authenticating = false
	if !s.closing {
		s.cut()
	}
	return false
}
