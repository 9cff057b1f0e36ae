package term

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Machine is one who works under a lock, in all its terms. Set the policy, and step Begin.
type Machine struct {
	Policy
	Phase   Phase
	Then    Then
	Outcome Outcome
	// Failed has the times of the failures that count.
	Failed []time.Duration
	// Reason and Detail say why it ends by itself.
	Reason messages.Reason
	Detail string

	// Pauses counts the pauses in a row: with the newest one.
	Pauses int

	began time.Duration // when the newest campaign began
}

// Step takes one event and gives its effects, which the caller must not change. An event without a
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
	case Stopping, Lapsed:
		return m.stopping(ev)
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
		if m.One {
			m.Then = End
		}
		return campaign
	case Close, Stop:
		return m.note(ev).next(ev)
	}
	return nil
}

func (m *Machine) campaigning(ev Event) []Effect {
	if m.Waits {
		switch ev.Kind {
		case LockEnded:
			m.note(ev).Phase = Lost
			return drainWork
		case Close:
			m.note(ev).Phase = Stopping
			return drainWork
		case Stop:
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
	case Declined, Lapse, Close, Stop:
		return m.note(ev).release()
	case LockEnded:
		return m.note(ev).next(ev)
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

func (m *Machine) completed(ev Event) []Effect {
	switch {
	case !ev.Valid: // the end of the work overtakes the end of the lock
		m.Outcome = Taken
	case !m.Anew:
		m.Outcome = Completed
	case !m.tooMany(ev.At):
		return startWork
	default:
		m.Then, m.Outcome = StayOut, Failing
	}
	return m.note(ev).release()
}

func (m *Machine) draining(ev Event) []Effect {
	switch ev.Kind {
	case Close, Stop, Lapse, Gone, LockEnded:
		return m.active(ev)
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

func (m *Machine) asked(ev Event, how Ending) []Effect {
	if how.To == Paused { // it does not end for that
		return nil
	}
	m.note(ev).Phase = how.To
	return how.Do
}

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

func (m *Machine) release() []Effect {
	if m.Then == End {
		m.Phase = Ended
		return releaseFinish
	}
	m.Phase = Releasing
	return release
}

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

// pause gives the pause between two campaigns: see "Pauses" in the package doc.
func (m *Machine) pause(ev Event) []Effect {
	took := ev.At - m.began
	if m.Outcome == LeaseLost && took >= retry.Campaign.First {
		return noPause
	}
	if took > ev.Longest { // the pauses before were long ago
		m.Pauses = 0
	}
	m.Pauses++
	return pause
}

func (m *Machine) tooMany(at time.Duration) bool {
	if m.Failures == 0 {
		return false
	}
	m.Failed = slices.DeleteFunc(m.Failed, func(before time.Duration) bool { return at-before >= m.Within })
	m.Failed = append(m.Failed, at)
	return len(m.Failed) >= m.Failures
}

// Ends reports whether no further work will begin.
func (m *Machine) Ends() bool { return m.Phase == Ended || m.Then == End }
