package requests

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Several decides how several locks are taken as one: one after the other, and all or none. It is
// pure, without a clock, a connection or an actor: its user tells it the events and carries out its
// answers. locks.All is such a user in the goroutine of its caller, actors.NewAll in an actor.
//
// When a lock cannot be acquired or one is lost, all are given back, and none is asked for until no
// lock is left. Where the session had no room for a lock while others were held, Several then pauses
// and begins again: another user may need the room of these locks as much as this user needs the
// other's. The first lock is refused at once, because nobody waits for this user then.
type Several struct {
	locks    int
	held     int // of them, since it began
	phase    phase
	refusals int // for want of room while others were held
}

// phase says where a Several is.
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

// Do is the next step of a Several's user.
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
func (s *Several) Begin(locks int) Next {
	*s = Several{locks: locks, phase: taking}
	return Next{Do: Ask}
}

// Granted says that the lock that was asked for is held. It may cross a GiveBack.
func (s *Several) Granted() Next {
	if s.phase != taking {
		return Next{}
	}
	if s.held++; s.held < s.locks {
		return Next{Do: Ask, Lock: s.held}
	}
	s.phase = holding
	return Next{Do: HaveAll}
}

// Refused says that the lock that was asked for cannot be acquired. noRoom says that the session has
// no room for its node.
func (s *Several) Refused(noRoom bool) Next {
	if s.phase == taking && noRoom && s.held > 0 {
		if s.refusals++; s.refusals < retry.NoRoomTries {
			s.phase = retreating
			return Next{Do: GiveBack}
		}
	}
	return s.Lost()
}

// Lost says that one of the locks is not held any more, for any reason. It changes nothing while
// all are given back.
func (s *Several) Lost() Next {
	if s.phase != taking && s.phase != holding {
		return Next{}
	}
	s.phase = returning
	return Next{Do: GiveBack}
}

// GiveUp says that the locks are not wanted any more.
func (s *Several) GiveUp() Next {
	switch s.phase {
	case retreating:
		s.phase = returning
	case pausing:
		s.phase = over
		return Next{Do: End}
	}
	return s.Lost()
}

// NoneLeft says that no lock is held, asked for, or about to be given back.
func (s *Several) NoneLeft() Next {
	switch s.phase {
	case retreating:
		s.phase, s.held = pausing, 0
		return Next{Do: Pause, Pause: retry.NoRoom.Pause(s.refusals)}
	case pausing, over:
		return Next{}
	}
	s.phase = over
	return Next{Do: End}
}

// PauseOver says that the pause is over. It may cross a GiveUp.
func (s *Several) PauseOver() Next {
	if s.phase != pausing {
		return Next{}
	}
	s.phase = taking
	return Next{Do: Ask}
}

// Retreats reports whether all locks are given back to begin again. The end of a lock is then not the
// end of the whole.
func (s *Several) Retreats() bool { return s.phase == retreating }
