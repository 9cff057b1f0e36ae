package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Want is what a call asks for: a request, and the limits of what it shares.
type Want struct {
	messages.Acquire
	// MaxWaiters refuses the call where it would wait behind so many contenders; 0 is no bound.
	// Sticky keeps an exclusive hold for this long while nobody asks. Cohort is the grants of one
	// hold; 0 is one. Reentry shares the hold of a lease around the call.
	MaxWaiters int
	Sticky     time.Duration
	Cohort     int
	Reentry    bool
	// Alone gives the call a hold of its own: elections, groups, calls with observers.
	Alone bool
}

// Key names a queue. Semaphores and contests have queues of their own.
type Key struct {
	Path, Name string
	Kind       Kind
}

// Kind tells queues of one path and name apart.
type Kind uint8

// The kinds of queues.
const (
	Locks Kind = iota
	Permits
	Contests
)

// KeyOf gives the queue that a request belongs to.
func KeyOf(want *Want) Key {
	k := Key{Path: want.Path, Name: want.Name}
	switch want.Mode {
	case messages.Semaphore:
		k.Kind = Permits
	case messages.Contest:
		k.Kind = Contests
	}
	return k
}

func (w *Want) reads() bool { return w.Mode == messages.Read }

func alike(a, b *Want) bool {
	if a == b {
		return true
	}
	x := *a
	x.Owner, x.Caller, x.Try, x.MaxWaiters, x.Reentry = b.Owner, b.Caller, b.Try, b.MaxWaiters, b.Reentry
	return x == *b
}
