package term

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Phase is the phase of one who works under a lock.
type Phase uint8

const (
	// Paused: it waits until it campaigns. Invariant: no work runs, and no lock is held.
	Paused Phase = iota
	// Campaigning: it waits for the lock. Invariant: no work runs.
	Campaigning
	// Active: the lock was granted, and the work runs. Invariant: there is one work.
	Active
	// Draining: the work is to end when it has done what it has. Its context lives.
	Draining
	// Stopping: the work is being stopped, and the lock is kept until it has ended.
	Stopping
	// Lapsed: the lease is over, and the work has not ended. It is not known that the lock is gone.
	Lapsed
	// Lost: the lock is gone, and the work has not ended. Another may work elsewhere.
	Lost
	// Releasing: the lock is being given back. Invariant: no work runs.
	Releasing
	// Ended: nothing follows.
	Ended
)

var phaseNames = [...]string{"paused", "campaigning", "active", "draining", "stopping", "lapsed", "lost", "releasing",
	"ended"}

// String gives the phase's name: "paused", "campaigning", …
func (p Phase) String() string { return phaseNames[p] }

// Then is the next step when the lock is gone and no work runs.
type Then uint8

// The next steps. A greater one replaces a smaller one.
const (
	// Again: it campaigns again, after a pause.
	Again Then = iota
	// StayOut: it campaigns again, so much later that another node can win.
	StayOut
	// End: it ends.
	End
)

// Outcome says why a term has ended, or why its work is to end.
type Outcome uint8

// The outcomes. Of those up to Failing the first counts. The others, which say that the lock is not
// ours, replace them; of these the last here counts.
const (
	// None: the term goes on, or no work has begun.
	None Outcome = iota
	// Completed: the work has ended by itself.
	Completed
	// Revoked: a revoke request has come.
	Revoked
	// Stopped: it was stopped from outside, or its session closes.
	Stopped
	// Failing: the work has failed too often.
	Failing
	// GivenBack: the work has given the lock back itself.
	GivenBack
	// Taken: the lock was taken by force, or its time limit was reached.
	Taken
	// LeaseLost: the lease was lost. Nobody may want the lock now.
	LeaseLost
)

var outcomeNames = [...]string{"none", "completed", "revoked", "stopped", "failing", "given-back", "taken", "lease-lost"}

// String gives the outcome's name: "none", "completed", …
func (o Outcome) String() string { return outcomeNames[o] }

// Kind is the kind of an event.
type Kind uint8

const (
	// Begin: it is to campaign for the first time.
	Begin Kind = iota
	// PauseOver: the pause is over.
	PauseOver
	// Held: the lock is granted. Event.Valid: its lease runs now.
	Held
	// Declined: the lock is granted, and no work is to begin under it.
	Declined
	// Revoke: a revoke request has come.
	Revoke
	// Lapse: the lease is over, and it is not known whether the lock is gone. Event.Outcome says
	// why.
	Lapse
	// Gone: the lock is not ours any more; its request has not ended. Event.Outcome says why.
	Gone
	// LockEnded: the request has ended, with Event.Outcome LeaseLost after a lost lease.
	// Event.Passes: a new campaign may succeed; otherwise Event.Reason and Event.Detail say why.
	LockEnded
	// WorkRestarted: the work has failed, and its supervisor restarts it.
	WorkRestarted
	// WorkEnded: the work has ended, or could not begin. Event.Valid: under a valid lease.
	// Event.Passes: the work allows another term.
	WorkEnded
	// Close: the session is about to close.
	Close
	// Stop: it is stopped from outside.
	Stop
)

var kindNames = [...]string{"Begin", "PauseOver", "Held", "Declined", "Revoke", "Lapse", "Gone", "LockEnded", "WorkRestarted",
	"WorkEnded", "Close", "Stop"}

// String gives the event's name.
func (k Kind) String() string { return kindNames[k] }

// Event is one thing that happened.
type Event struct {
	Kind Kind
	// At is the time on any clock that does not go back; Longest the longest pause then.
	At, Longest   time.Duration
	Valid, Passes bool
	Outcome       Outcome
	Reason        messages.Reason
	Detail        string
}

// Effect is what is to be done.
type Effect uint8

// The effects, to be carried out in order.
const (
	// Campaign asks for the lock.
	Campaign Effect = iota
	// StartWork starts the work under the lock that is held.
	StartWork
	// DrainWork has the work end when it has done what it has.
	DrainWork
	// StopWork stops the work before it takes anything else up; Machine.Outcome says why. More than
	// once does no harm.
	StopWork
	// Release gives the lock back, or the campaign up. No work runs, and its context ends now at
	// the latest.
	Release
	// NoPause, Pause and LongPause: PauseOver comes after a pause. [Clocked] has the lengths.
	NoPause
	Pause
	LongPause
	// Finish ends it; Machine.Reason says why where it ends by itself.
	Finish
)

var effectNames = [...]string{"Campaign", "StartWork", "DrainWork", "StopWork", "Release", "NoPause", "Pause",
	"LongPause", "Finish"}

// String gives the effect's name.
func (e Effect) String() string { return effectNames[e] }

// Shared slices, because a step of Do has no time to make new ones.
var (
	campaign      = []Effect{Campaign}
	startWork     = []Effect{StartWork}
	drainWork     = []Effect{DrainWork}
	stopWork      = []Effect{StopWork}
	release       = []Effect{Release}
	releaseFinish = []Effect{Release, Finish}
	finish        = []Effect{Finish}
	noPause       = []Effect{NoPause}
	pause         = []Effect{Pause}
	longPause     = []Effect{LongPause}
)
