package term

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Phase is the phase of one who works under a lock.
type Phase uint8

// The phases.
const (
	// Paused: it waits until it campaigns. Invariant: no work runs, and no lock is held.
	Paused Phase = iota
	// Campaigning: it waits for the lock. Invariant: no work runs.
	Campaigning
	// Active: the lock was granted, and the work runs. Invariant: there is one work.
	Active
	// Draining: the work is to end when it has done what it has. Its context has not ended.
	Draining
	// Stopping: the work is being stopped, and the lock is kept until it has ended.
	Stopping
	// Lapsed: the lease is over, and the work has not ended. Nobody has said yet that the lock is gone.
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
	// StayOut: it campaigns again, and so much later that another node can win.
	StayOut
	// End: it ends.
	End
)

// Outcome says why a term has ended, or why its work is to end.
type Outcome uint8

// The outcomes. Of those up to Failing the first counts. The others say that the lock is not ours, and replace them;
// of these the last in this list counts.
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

// Outcomes lists the outcomes.
func Outcomes() []Outcome {
	all := make([]Outcome, len(outcomeNames))
	for i := range all {
		all[i] = Outcome(i)
	}
	return all
}

// Kind is the kind of an event.
type Kind uint8

// The events.
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
	// Lapse: the lease is over, and it is not known whether the lock is gone. Event.Outcome says why.
	Lapse
	// Gone: the lock is not ours any more; its request has not ended. Event.Outcome says why.
	Gone
	// LockEnded: the request has ended. Event.Passes: a new campaign may succeed; where it may not,
	// Event.Reason and Event.Detail say why. Event.Outcome is LeaseLost where it has ended with a lost lease.
	LockEnded
	// WorkRestarted: the work has failed, and its supervisor restarts it.
	WorkRestarted
	// WorkEnded: the work has ended, or could not begin. Event.Valid: under a valid lease. Event.Passes: nothing
	// that it said forbids another term.
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

// Kinds lists the events.
func Kinds() []Kind {
	all := make([]Kind, len(kindNames))
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Event is one thing that happened.
type Event struct {
	Kind Kind
	// At is the time on any clock that does not go back. Longest is the longest pause at that time.
	At, Longest   time.Duration
	Valid, Passes bool
	Outcome       Outcome
	Reason        messages.Reason
	Detail        string
}

// Effect is an instruction to the shell.
type Effect uint8

// The effects. The shell carries them out in order.
const (
	// Campaign asks for the lock.
	Campaign Effect = iota
	// StartWork starts the work under the lock that is held.
	StartWork
	// EndContext ends the context of the work; Machine.Outcome says why.
	EndContext
	// DrainWork has the work end when it has done what it has.
	DrainWork
	// StopWork stops the work before it takes anything else up. More than once does no harm.
	StopWork
	// Release gives the lock back, or the campaign up. No work runs, and its context ends now at the latest.
	Release
	// NoPause, ShortestPause, LongerPause and LongPause: PauseOver comes after a pause. [Pauses] has the lengths.
	NoPause
	ShortestPause
	LongerPause
	LongPause
	// Finish ends it; Machine.Reason says why where it ends by itself.
	Finish
)

var effectNames = [...]string{"Campaign", "StartWork", "EndContext", "DrainWork", "StopWork", "Release", "NoPause",
	"ShortestPause", "LongerPause", "LongPause", "Finish"}

// String gives the effect's name.
func (e Effect) String() string { return effectNames[e] }

// Machine is one who works under a lock, in all its terms. Set the policy, and step Begin.
type Machine struct {
	Policy
	Phase Phase
	Then  Then
	// Outcome is the outcome of the newest term.
	Outcome Outcome
	// Failed has the times of the failures that count.
	Failed []time.Duration
	// Reason and Detail say why it ends by itself.
	Reason messages.Reason
	Detail string

	began time.Duration // when the newest campaign began
}

// The effects that do not depend on the policy. A step makes no new ones: Do has no time for it.
var (
	campaign      = []Effect{Campaign}
	startWork     = []Effect{StartWork}
	drainWork     = []Effect{DrainWork}
	stopWork      = []Effect{StopWork}
	release       = []Effect{Release}
	releaseFinish = []Effect{Release, Finish}
	finish        = []Effect{Finish}
	noPause       = []Effect{NoPause}
	shortestPause = []Effect{ShortestPause}
	longerPause   = []Effect{LongerPause}
	longPause     = []Effect{LongPause}
)

// Step takes one event and gives its effects, which the caller must not change. An event that has no
// meaning in the phase changes nothing.
func (m *Machine) Step(ev Event) []Effect {
	switch m.Phase {
	case Paused:
		return m.paused(ev)
	case Campaigning:
		return m.campaigning(ev)
	case Active:
		return m.active(ev)
	case Draining:
		return m.draining(ev)
	case Stopping:
		return m.stopping(ev)
	case Lapsed:
		return m.lapsed(ev)
	case Lost:
		return m.lost(ev)
	case Releasing:
		return m.releasing(ev)
	}
	return nil
}

func (m *Machine) paused(ev Event) []Effect {
	switch ev.Kind {
	case Begin, PauseOver:
		m.Phase, m.Outcome, m.began = Campaigning, None, ev.At
		if m.Terms == One {
			m.Then = End
		}
		return campaign
	case Close, Stop:
		return m.note(ev).next(ev)
	}
	return nil
}

func (m *Machine) campaigning(ev Event) []Effect {
	if m.Work == Waits {
		switch ev.Kind {
		case LockEnded:
			m.note(ev).Phase = Lost
			return drainWork
		case Close:
			m.note(ev).Phase = Stopping
			return drainWork
		case Stop: // it is being stopped
			m.note(ev).Phase = Stopping
			return nil
		case Lapse:
			return m.ours(ev)
		}
	}
	switch ev.Kind {
	case Held:
		if !ev.Valid { // the end of the lock is about to be told
			return nil
		}
		m.Phase = Active
		return startWork
	case Declined, Lapse:
		return m.note(ev).release()
	case LockEnded:
		return m.note(ev).next(ev)
	case Close, Stop:
		return m.note(ev).release()
	}
	return nil
}

func (m *Machine) active(ev Event) []Effect {
	switch ev.Kind {
	case Revoke:
		return m.asked(ev, m.OnRevoke)
	case Close:
		return m.asked(ev, m.OnClose)
	case Stop:
		return m.asked(ev, m.OnStop)
	case Lapse, Gone, LockEnded:
		return m.ours(ev)
	case WorkRestarted:
		if !m.tooMany(ev.At) {
			return nil
		}
		m.Phase, m.Then, m.Outcome = Stopping, StayOut, Failing
		return m.OnStop.Do
	case WorkEnded:
		return m.completed(ev)
	}
	return nil
}

// completed takes the end of a work that nobody has asked for.
func (m *Machine) completed(ev Event) []Effect {
	switch {
	case !ev.Valid: // the loss is not told yet: the end of the work overtakes the end of the lock
		m.Outcome = Taken
	case m.Completes == StartsAnew && !m.tooMany(ev.At):
		return startWork
	case m.Completes == StartsAnew:
		m.Then, m.Outcome = StayOut, Failing
	default:
		m.Outcome = Completed
	}
	return m.note(ev).release()
}

func (m *Machine) draining(ev Event) []Effect {
	switch ev.Kind {
	case Close:
		return m.asked(ev, m.OnClose)
	case Stop:
		return m.asked(ev, m.OnStop)
	case Lapse, Gone, LockEnded:
		return m.ours(ev)
	case WorkEnded:
		return m.note(ev).release()
	}
	return nil
}

func (m *Machine) stopping(ev Event) []Effect {
	switch ev.Kind {
	case Lapse:
		m.note(ev).Phase = Lapsed
	case Gone, LockEnded:
		m.note(ev).Phase = Lost
	case Close, Stop:
		m.note(ev)
	case WorkRestarted: // it panicked while it was being stopped, and would go on
		return stopWork
	case WorkEnded:
		return m.note(ev).release()
	}
	return nil
}

func (m *Machine) lapsed(ev Event) []Effect {
	switch ev.Kind {
	case Gone, LockEnded:
		m.note(ev).Phase = Lost
	case Close, Stop:
		m.note(ev)
	case WorkRestarted:
		return stopWork
	case WorkEnded: // to release is how to learn that the lock is gone
		return m.note(ev).release()
	}
	return nil
}

func (m *Machine) lost(ev Event) []Effect {
	switch ev.Kind {
	case LockEnded, Close, Stop:
		m.note(ev)
	case WorkRestarted:
		return stopWork
	case WorkEnded:
		return m.note(ev).next(ev)
	}
	return nil
}

func (m *Machine) releasing(ev Event) []Effect {
	switch ev.Kind {
	case LockEnded, Close, Stop:
		return m.note(ev).next(ev)
	}
	return nil
}

// asked has the work end as the policy says, while the lock is kept.
func (m *Machine) asked(ev Event, how Ending) []Effect {
	if how.To == Active { // it does not end for that
		return nil
	}
	m.note(ev).Phase = how.To
	return how.Do
}

// ours: the lock is not ours any more, and the work is to end at once.
func (m *Machine) ours(ev Event) []Effect {
	m.note(ev).Phase = Lost
	if ev.Kind == Lapse {
		m.Phase = Lapsed
	}
	if m.Outcome < GivenBack {
		m.Outcome = Taken
	}
	return m.OnLoss
}

// note notes what an event says of the end of the term, and of the step behind it.
func (m *Machine) note(ev Event) *Machine {
	var outcome Outcome
	switch ev.Kind {
	case Lapse, Gone, LockEnded:
		outcome = ev.Outcome
	case Revoke:
		outcome = Revoked
	case Close, Stop:
		outcome = Stopped
	}
	if m.Outcome == None || outcome >= GivenBack {
		m.Outcome = max(m.Outcome, outcome)
	}
	switch {
	case ev.Kind == LockEnded && !ev.Passes, ev.Kind == Close:
		m.Then, m.Reason, m.Detail = End, ev.Reason, ev.Detail
	case ev.Kind == WorkEnded && !ev.Passes, ev.Kind == Stop:
		m.Then = End
	}
	return m
}

// release gives the lock back. One that is to end does not wait for that.
func (m *Machine) release() []Effect {
	if m.Then == End {
		m.Phase = Ended
		return releaseFinish
	}
	m.Phase = Releasing
	return release
}

// next gives the next step when the lock is gone and no work runs.
func (m *Machine) next(ev Event) []Effect {
	if m.Then == End {
		m.Phase = Ended
		return finish
	}
	m.Phase = Paused
	if m.Then == StayOut {
		m.Then, m.Failed = Again, nil
		return longPause
	}
	return m.pause(ev)
}

// pause gives the pause between two campaigns. There is none after a lost lease, because the lock would
// stay free while nobody else wants it; but one whose terms fail at once would load the servers.
func (m *Machine) pause(ev Event) []Effect {
	switch took := ev.At - m.began; {
	case m.Outcome == LeaseLost && took >= retry.Campaign.First:
		return noPause
	case took > ev.Longest: // the pauses before were long ago
		return shortestPause
	}
	return longerPause
}

// tooMany counts a failure of the work, and reports whether it has had too many.
func (m *Machine) tooMany(at time.Duration) bool {
	if m.Failures == 0 {
		return false
	}
	m.Failed = slices.DeleteFunc(m.Failed, func(before time.Duration) bool { return at-before >= m.Within })
	m.Failed = append(m.Failed, at)
	return len(m.Failed) >= m.Failures
}

// Ends reports whether it is to end: no further work will begin.
func (m *Machine) Ends() bool { return m.Phase == Ended || m.Then == End }
