package term

import "time"

// Policy has the differences between the users of the machine.
type Policy struct {
	// One: it ends with its first term, or with the campaign for it. Otherwise it campaigns again.
	One bool
	// Waits: the work exists from the beginning, as an actor whose messages wait for the lock, and
	// has to end before the campaign is given up. Otherwise it begins with the term.
	Waits bool
	// Anew: work that has ended by itself starts anew under the same lock. Otherwise that is given back.
	Anew bool
	// OnRevoke, OnClose and OnStop say how the work ends for a revoke request, before its session
	// closes, and when it is stopped from outside.
	OnRevoke, OnClose, OnStop Ending
	// OnLoss ends the work of a lock that is not ours any more.
	OnLoss []Effect
	// After Failures restarts and ends of the work within Within, the lock goes to another node.
	// Zero does not count them.
	Failures int
	Within   time.Duration
}

// Ending is how the work ends. With the zero value it does not.
type Ending struct {
	To Phase
	Do []Effect
}

// The policies.
var (
	// Once: one term, one function, as of locks.Do and locks.RunOnce. The function hears of a
	// revoke request by its lease, and the end of its context ends it.
	Once = Policy{One: true, OnStop: Ending{To: Stopping}}
	// Leader: a function that leads in each term, as of Election.Run.
	Leader = Policy{OnRevoke: Ending{To: Stopping}, OnStop: Ending{To: Stopping}}
	// Singleton: an actor that is spawned in each term, and may fail.
	Singleton = Policy{Anew: true, OnRevoke: Ending{Stopping, stopWork},
		OnClose: Ending{Stopping, stopWork}, OnStop: Ending{Stopping, stopWork}, OnLoss: stopWork}
	// Activation: an actor whose messages wait for the lock. It serves under it until it has ended,
	// on a revoke request also the messages that it has. Stop says that it is stopping already.
	Activation = Policy{One: true, Waits: true, OnRevoke: Ending{Draining, drainWork}, OnClose: Ending{Draining, stopWork},
		OnStop: Ending{To: Stopping}, OnLoss: stopWork}
)
