package term

import "time"

// Policy has the differences between the users of the machine.
type Policy struct {
	// Terms says how many terms there may be.
	Terms Terms
	// Work says when there is work.
	Work Work
	// Completes says what follows when the work has ended by itself under a valid lease.
	Completes Completes
	// OnRevoke, OnClose and OnStop say how the work ends for a revoke request, before its session
	// closes, and when it is stopped from outside.
	OnRevoke, OnClose, OnStop Ending
	// OnLoss ends the work of a lock that is not ours any more.
	OnLoss []Effect
	// After Failures restarts and ends of the work within Within, the lock goes to another node.
	// With zero they do not count.
	Failures int
	Within   time.Duration
}

// Terms says how many terms there may be.
type Terms uint8

// The numbers of terms.
const (
	// Many: it campaigns again while nothing says otherwise.
	Many Terms = iota
	// One: it ends with its first term, or with the campaign for it.
	One
)

// Work says when there is work.
type Work uint8

// The kinds of work.
const (
	// Begins: the work begins with the term.
	Begins Work = iota
	// Waits: the work exists from the beginning, as an actor whose messages wait for the lock. It has
	// to end before the campaign is given up.
	Waits
)

// Completes says what follows when the work has ended by itself.
type Completes uint8

// The steps that may follow.
const (
	// GivesBack: the lock is given back.
	GivesBack Completes = iota
	// StartsAnew: the work starts anew under the same lock.
	StartsAnew
)

// Ending is how the work ends. With the zero value it does not.
type Ending struct {
	To Phase
	Do []Effect
}

// The policies.
var (
	// Once: one term, one function, as of locks.Do and locks.RunOnce. A revoke request is the
	// function's to hear of, by its lease, and the end of its context ends it.
	Once = Policy{Terms: One, OnStop: Ending{To: Stopping}}
	// Leader: a function that leads in each term, as of Election.Run.
	Leader = Policy{Terms: Many, OnRevoke: Ending{To: Stopping}, OnStop: Ending{To: Stopping}}
	// Singleton: an actor that is spawned in each term, and may fail.
	Singleton = Policy{Terms: Many, Completes: StartsAnew, OnRevoke: Ending{Stopping, stopWork},
		OnClose: Ending{Stopping, stopWork}, OnStop: Ending{Stopping, stopWork}, OnLoss: stopWork}
	// Activation: an actor whose messages wait for the lock. One that is to end serves under it
	// until it has ended, for a revoke request also the messages that it has. Stop says that it is
	// stopping already.
	Activation = Policy{Terms: One, Work: Waits, OnRevoke: Ending{Draining, drainWork}, OnClose: Ending{Draining, stopWork},
		OnStop: Ending{To: Stopping}, OnLoss: stopWork}
)
