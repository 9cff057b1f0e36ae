package main

import (
	"slices"
	"time"
)

// event is a grant that the controller waits for.
type event struct {
	happened chan struct{} // closed by the first grant that matches
	forget   func()
	matches  func(l *contended, g *grant) bool
}

// await notes what grant is waited for; forget ends that.
func (j *judge) await(matches func(l *contended, g *grant) bool) *event {
	e := &event{happened: make(chan struct{}), matches: matches}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events[e] = true
	e.forget = func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.events, e)
	}
	return e
}

const (
	// overtakenMargin is by how much a request comes after another one for certain.
	overtakenMargin = 20 * time.Millisecond
	// overtakenWait is the wait after which a waiter counts as overtaken by one behind it.
	overtakenWait = 100 * time.Millisecond
)

// overtaken happens when somebody else is granted a lock that a client has asked for earlier, after waiting for
// nobody but that client: its session has expired.
func (j *judge) overtaken(client int) *event {
	return j.await(func(l *contended, g *grant) bool {
		asked := int64(0)
		for who, since := range l.waiting {
			if who.Client == client && since < g.call-int64(overtakenMargin) {
				asked = max(asked, since)
			}
		}
		if asked == 0 || g.by.Client == client || g.at-g.call < int64(overtakenWait) {
			return false
		}
		return !slices.ContainsFunc(l.grants, func(other *grant) bool {
			return other != g && (!other.closed || other.released >= asked)
		})
	})
}

// grantedTo happens when a client is granted a lock.
func (j *judge) grantedTo(client int) *event {
	return j.await(func(_ *contended, g *grant) bool { return g.by.Client == client })
}

// notify tells all that wait for a grant. The judge is locked.
func (j *judge) notify(l *contended, g *grant) {
	for e := range j.events {
		if e.matches(l, g) {
			close(e.happened)
			delete(j.events, e)
		}
	}
}
