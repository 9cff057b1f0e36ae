package main

import "time"

// spell is a time in which the ensemble is in a certain state, and the longest that somebody waited in it
// for a lock that nobody held.
type spell struct {
	on      bool
	since   int64
	longest time.Duration
	lock    int
	at      int64 // the grant that ended it
}

func newSpell() *spell { return &spell{on: true, since: now()} }

// set begins or ends a spell.
func (s *spell) set(on bool) {
	if on && !s.on {
		s.since = now()
	}
	s.on = on
}

// waited notes a grant of a lock that was free and waited for since an instant.
func (s *spell) waited(lock int, since, at int64) {
	length := time.Duration(at - max(since, s.since))
	if s.on && length > s.longest {
		s.longest, s.lock, s.at = length, lock, at
	}
}
