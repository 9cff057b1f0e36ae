package main

import (
	"fmt"
	"os"
)

// voice tells the person at the terminal, or the log, what happens while the command runs. It writes on a goroutine of
// its own: who reads standard error may have stopped (a pager, Ctrl-S), and the command must end all the same when the
// lock is lost.
type voice struct {
	lines chan string
	over  chan struct{}
}

// maxSaid is more than there is ever to be said: that somebody asks for the lock, and why the command is being ended,
// for one reason and then for a graver one.
const maxSaid = 8

func newVoice() *voice {
	v := &voice{lines: make(chan string, maxSaid), over: make(chan struct{})}
	go func() {
		defer close(v.over)
		for line := range v.lines {
			fmt.Fprintln(os.Stderr, line)
		}
	}()
	return v
}

// say does not wait until it is read.
func (v *voice) say(format string, args ...any) { v.lines <- fmt.Sprintf("zklock: "+format, args...) }

// close waits until everything is written.
func (v *voice) close() { close(v.lines); <-v.over }
