// Package relists has tests fail in which a waiter looked again for what an event should have told
// it.
//
// A waiter that hears nothing lists the queue again after a session timeout. That repairs what a
// lost wake-up breaks: a wrong waiter passes its tests, only later, and no test may depend on speed.
// So whatever opens a session for a test has it counted, see [Count]. What a session has found that
// way is in [actors.Counters].
package relists

import (
	"sync"
	"testing"

	"github.com/turnstile-locks/turnstile/actors"
)

// right has, for each session that is counted, the most re-lists that are right.
var right sync.Map // of *actors.Session to int64

// Count has the test fail at its end if a re-list has told a waiter of the session what no event had. Call it where the
// session is opened, before its close is registered: the check comes after that.
func Count(t testing.TB, s *actors.Session) {
	t.Helper()
	right.Store(s, int64(0))
	t.Cleanup(func() {
		most, _ := right.LoadAndDelete(s)
		switch polls := s.Counters().Polls; {
		case polls > most.(int64):
			t.Errorf("%d times a waiter found by looking again what an event should have told it; at most %d are right", polls, most)
		case polls == 0 && most.(int64) > 0:
			t.Error("it was said that a waiter has to look again, and none had to")
		}
	})
}

// Right says that the test keeps events from a session that is counted: it fails unless at least one re-list is needed,
// and at most so many.
func Right(t testing.TB, s *actors.Session, most int64) {
	t.Helper()
	if _, counted := right.Load(s); !counted {
		t.Fatal("relists.Right: the session is not counted")
	}
	right.Store(s, most)
}
