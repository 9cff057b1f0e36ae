package main

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// wrongClock goes as fast as the right one, and shows another time.
type wrongClock struct {
	clockwork.Clock
	ahead time.Duration
}

func newWrongClock(ahead time.Duration) clockwork.Clock {
	return wrongClock{clockwork.NewRealClock(), ahead}
}

// Now is the wrong time.
func (c wrongClock) Now() time.Time { return c.Clock.Now().Add(c.ahead) }

// Since is the time since a wrong time.
func (c wrongClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until is the time until a wrong time.
func (c wrongClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }
