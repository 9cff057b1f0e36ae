package multilock

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Acquisition takes several locks as one: one after the other, and all or none. It is pure, without
// a clock, a connection or an actor: its user tells it the events and carries out its answers.
//
// When a lock cannot be acquired or one is lost, all are given back, and none is asked for until no
// lock is left. Where the session had no room for a lock while others were held, it then pauses and
// begins again: another user may need the room of these locks as much as this user needs the
// other's. The first lock is refused at once, because nobody waits for this user then.
type Acquisition struct {
	locks    int
	held     int // of them, since it began
	phase    phase
	refusals int // for want of room while others were held
}

// phase says where an Acquisition is.
type phase string

const (
	// taking: the locks before this one are held, this one is asked for.
	taking phase = "taking"
	// holding: all locks are held.
	holding phase = "holding"
	// returning: all locks are being given back. Then it is over.
	returning phase = "returning"
	// retreating: all locks are being given back. Then it begins again.
	retreating phase = "retreating"
	// pausing: no lock is held, until it begins again.
	pausing phase = "pausing"
	// over: no lock is held any more.
	over phase = "over"
)

// Do is the next step of an Acquisition's user.
type Do string

const (
	// Wait: nothing, until something else happens.
	Wait Do = ""
	// Ask: ask for the lock whose number is Next.Lock.
	Ask Do = "ask"
	// HaveAll: all locks are held.
	HaveAll Do = "have all"
	// GiveBack: give back every lock, also the one that is asked for, and then call NoneLeft.
	GiveBack Do = "give back"
	// Pause: pause for Next.Pause, and then call PauseOver.
	Pause Do = "pause"
	// End: it is over.
	End Do = "end"
)

// Next is the step after an event.
type Next struct {
	Do    Do
	Lock  int
	Pause time.Duration
}

// Begin begins to take as many locks: one at least.
func (a *Acquisition) Begin(locks int) Next {
	*a = Acquisition{locks: locks, phase: taking}
	return Next{Do: Ask}
}

// Granted says that the lock that was asked for is held. It may cross a GiveBack.
func (a *Acquisition) Granted() Next {
	if a.phase != taking {
		return Next{}
	}
	if a.held++; a.held < a.locks {
		return Next{Do: Ask, Lock: a.held}
	}
	a.phase = holding
	return Next{Do: HaveAll}
}

// Refused says that the lock that was asked for cannot be acquired. noRoom says that the session has
// no room for its node.
func (a *Acquisition) Refused(noRoom bool) Next {
	if a.phase == taking && noRoom && a.held > 0 {
		if a.refusals++; a.refusals < retry.NoRoomTries {
			a.phase = retreating
			return Next{Do: GiveBack}
		}
	}
	return a.Lost()
}

// Lost says that one of the locks is not held any more, for any reason. It changes nothing while
// all are given back.
func (a *Acquisition) Lost() Next {
	if a.phase != taking && a.phase != holding {
		return Next{}
	}
	a.phase = returning
	return Next{Do: GiveBack}
}

// GiveUp says that the locks are not wanted any more.
func (a *Acquisition) GiveUp() Next {
	switch a.phase {
	case retreating:
		a.phase = returning
	case pausing:
		a.phase = over
		return Next{Do: End}
	}
	return a.Lost()
}

// NoneLeft says that no lock is held, asked for, or about to be given back.
func (a *Acquisition) NoneLeft() Next {
	switch a.phase {
	case retreating:
		a.phase, a.held = pausing, 0
		return Next{Do: Pause, Pause: retry.NoRoom.Pause(a.refusals)}
	case pausing, over:
		return Next{}
	}
	a.phase = over
	return Next{Do: End}
}

// PauseOver says that the pause is over. It may cross a GiveUp.
func (a *Acquisition) PauseOver() Next {
	if a.phase != pausing {
		return Next{}
	}
	a.phase = taking
	return Next{Do: Ask}
}

// Retreats reports whether all locks are given back to begin again. The end of a lock is then not the
// end of the whole.
func (a *Acquisition) Retreats() bool { return a.phase == retreating }
