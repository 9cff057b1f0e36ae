package scene

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
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

// CountRelists has the test fail at its end if a re-list has told a waiter of the session what no event had. Call it where the
// session is opened, before its close is registered: the check comes after that.
func CountRelists(t testing.TB, s *actors.Session) {
	t.Helper()
	right.Store(s, bounds{})
	t.Cleanup(func() {
		had, _ := right.LoadAndDelete(s)
		if err := had.(bounds).judge(s.Counters().Polls); err != nil {
			t.Error(err)
		}
		s = nil // package testing keeps this function until the last test has ended, see scene.Cleanup
	})
}

// NoRelists is CountRelists for a session of a program that is not a test: it tells what is wrong with its count
// (actors.Counters.Polls), where none is right.
func NoRelists(polls int64) error { return bounds{}.judge(polls) }

// warning is a part of the line that a session logs when a waiter is told by a re-list for the first time.
const warning = "what no event had told it"

// SaidRelists checks a process as NoRelists does, by all that it has written to standard error, where it has no
// logger of its own.
func SaidRelists(text string) error {
	return NoRelists(int64(strings.Count(text, warning)))
}

// Listener takes what a process writes to standard error, and passes it on.
type Listener struct {
	to io.Writer

	mu   sync.Mutex
	last string // the end of the text so far, which may be the beginning of a warning
	err  error
}

// Listen gives the standard error of a process, which is passed on to another one.
func Listen(to io.Writer) *Listener { return &Listener{to: to} }

// Write implements io.Writer.
func (l *Listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.last + string(p)
	if l.err == nil {
		l.err = SaidRelists(text)
	}
	l.last = text[max(0, len(text)-len(warning)+1):]
	return l.to.Write(p)
}

// Err tells what is wrong with the process, once it has ended.
func (l *Listener) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Listening is a package's tests, with a listener to what their sessions log to the program's log: those of examples, which
// have no test to fail. It is for a package of which no test says that a re-list is right.
type Listening struct{ Tests interface{ Run() int } }

// Run runs the tests, and gives the exit code.
func (l Listening) Run() int {
	heard := Listen(os.Stderr)
	log.SetOutput(heard)
	code := l.Tests.Run()
	if err := heard.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// ErrorOutput has the test fail at its end if a re-list has told a waiter of a process what no event had. It gives the standard
// error for that process, which is passed on. Call it before the end of the process is registered: the check comes after
// that.
func ErrorOutput(t testing.TB, to io.Writer) *Listener {
	t.Helper()
	l := Listen(to)
	t.Cleanup(func() {
		if err := l.Err(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// RightRelists says that the test keeps events from a session that is counted. It fails unless at least one re-list is needed, and
// at most so many. Where the machine was too slow for the connection, or the session, the wait began anew: its first
// listing may have shown what was to be found. Only then, which the session says, none need be.
func RightRelists(t testing.TB, s *actors.Session, most int64) {
	t.Helper()
	if _, counted := right.Load(s); !counted {
		t.Fatal("the session's re-lists are not counted: scene.CountRelists")
	}
	right.Store(s, bounds{1, most})
	_, changed := s.Connection()
	t.Cleanup(func() { // before the session is closed
		select {
		case <-changed:
			right.Store(s, bounds{0, most})
		default:
		}
		s = nil
	})
}
