// Package relists has tests fail in which a waiter looked again for what an event should have told
// it.
//
// A waiter that hears nothing lists the queue again after a session timeout. That repairs what a
// lost wake-up breaks: a wrong waiter passes its tests, only later, and no test may depend on
// speed. So all helpers that open a session for a test have it counted, see [Count].
// [actors.Counters] has the count of a session.
package relists

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/turnstile-locks/turnstile/actors"
)

// right has, for each session that is counted, how many re-lists are right.
var right sync.Map // of *actors.Session to bounds

type bounds struct{ least, most int64 }

// judge tells what is wrong with a count.
func (b bounds) judge(polls int64) error {
	switch {
	case polls > b.most:
		return fmt.Errorf("%d times a waiter found by looking again what an event should have told it; at most %d are right", polls, b.most)
	case polls < b.least:
		return errors.New("it was said that a waiter has to look again, and none had to")
	}
	return nil
}

// Count has the test fail at its end if a re-list has told a waiter of the session what no event had. Call it where the
// session is opened, before its close is registered: the check comes after that.
func Count(t testing.TB, s *actors.Session) {
	t.Helper()
	right.Store(s, bounds{})
	t.Cleanup(func() {
		had, _ := right.LoadAndDelete(s)
		if err := had.(bounds).judge(s.Counters().Polls); err != nil {
			t.Error(err)
		}
		s = nil // package testing keeps this function until the last test has ended, see patient.Cleanup
	})
}

// None is Count for a session of another process, or of a program that is not a test: it tells what is wrong with its
// count (actors.Counters.Polls), where none is right.
func None(polls int64) error { return bounds{}.judge(polls) }

// Right says that the test keeps events from a session that is counted: it fails unless at least one re-list is needed,
// and at most so many.
func Right(t testing.TB, s *actors.Session, most int64) {
	t.Helper()
	allow(t, s, bounds{1, most})
}

// Possible is Right where the waiter need not look again: a slow machine may lose its short session before that.
func Possible(t testing.TB, s *actors.Session, most int64) {
	t.Helper()
	allow(t, s, bounds{0, most})
}

func allow(t testing.TB, s *actors.Session, are bounds) {
	t.Helper()
	if _, counted := right.Load(s); !counted {
		t.Fatal("the session's re-lists are not counted: relists.Count")
	}
	right.Store(s, are)
}
