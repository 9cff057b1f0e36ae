package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// hold is a command that runs while a lock is held.
type hold struct {
	*runArgs
	lease   *locks.Lease
	guard   *guard
	signals <-chan os.Signal
	voice   *voice
	child   *child
	tty     *terminal // the command's; nil where it has no terminal

	why    string // the command is being ended, and why
	status int    // that goes with it
	killed bool   // it was ended with SIGKILL
	kill   <-chan time.Time
}

// carry runs the command to its end, or ends it. The error has its status.
func (h *hold) carry(program string) error {
	cmd := exec.Command(program, h.command[1:]...)
	cmd.Args[0] = h.command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = environment(h.lease, !h.noCreds)
	if !h.lease.Valid() {
		return exitWith(statusLost, "%s: the lock was lost before the command was run", h.path)
	}
	h.tty = ownTerminal()
	h.guard.expect(h.lease.Node())
	var err error
	if h.child, err = startChild(cmd, h.lease.Node(), h.tty); err != nil {
		h.tty.takeBack(false) // it was given away before it turned out that the command cannot be run
		return cannotStart(h.command[0], err)
	}
	h.guard.protect(h.child)
	end := h.watch()
	h.tty.takeBack(end.killed || h.killed)
	return h.verdict(end)
}

// watch waits for the end of the command, and brings it about when the lock is not ours any more.
func (h *hold) watch() ending {
	lost, revoked := h.lease.Context().Done(), h.lease.Revoked()
	early := h.earlyWarning()
	// Not locks.WithMaxHold: that gives the lock back while the command is still being ended.
	var tooLong <-chan time.Time
	if h.maxHold > 0 {
		tooLong = time.After(h.maxHold)
	}
	for {
		select {
		case end := <-h.child.ended:
			if !h.lease.Valid() {
				h.terminate(statusLost, h.reason())
			}
			if h.why != "" {
				h.finishGroup()
			}
			return end
		case s := <-h.signals:
			h.child.signal(s)
		case s := <-h.child.stops:
			h.stopped(s)
		case <-lost:
			lost = nil
			h.terminate(statusLost, h.reason())
		case <-early:
			if early = h.earlyWarning(); time.Until(h.lease.Deadline()) <= h.grace {
				early = nil
				h.terminate(statusLost, "ZooKeeper is not heard of, and the lease is about to end")
			}
		case <-revoked:
			revoked = nil
			if h.keep {
				h.voice.say("somebody asks for %s; the command goes on (--keep)", h.path)
			} else {
				h.terminate(statusRevoked, "somebody asks for the lock")
			}
		case <-tooLong:
			h.terminate(statusRevoked, fmt.Sprintf("it has had the lock for %v (--%s)", h.maxHold, maxHoldFlag))
		case <-h.kill:
			h.kill = nil
			h.killed = true
			h.child.killGroup()
		}
	}
}

// earlyWarning comes a grace period before the lease ends, unless it is renewed.
func (h *hold) earlyWarning() <-chan time.Time {
	if !h.early {
		return nil
	}
	return time.After(max(time.Until(h.lease.Deadline())-h.grace, time.Millisecond))
}

// terminate begins to end the command. The lock being lost outweighs that somebody asks for it.
func (h *hold) terminate(status int, why string) {
	begun := h.why != ""
	if !begun || status == statusLost && h.status != statusLost {
		h.why, h.status = why, status
		h.voice.say("%s: %s; ending the command, with SIGKILL after %v", h.path, why, h.grace)
	}
	if begun {
		return
	}
	h.kill = time.After(h.grace)
	h.child.terminateGroup()
}

// finishGroup ends the processes that the command has left in its process group, when its own process has ended.
func (h *hold) finishGroup() {
	if h.kill == nil { // the grace period is over
		h.child.killGroup()
		return
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for h.child.groupLives() {
		select {
		case <-poll.C:
		case s := <-h.signals:
			h.child.signal(s)
		case <-h.kill:
			h.killed = true
			h.child.killGroup()
			return
		}
	}
}

// stopped: the command does not run any more, by Ctrl-Z or a signal. zklock does as it does, so
// that the shell has the terminal. When the job goes on, the lock may be lost: then the command
// does not. A command that is being ended stays stopped until the grace period is over.
func (h *hold) stopped(by os.Signal) {
	if h.why == "" && h.lend(by) {
		h.child.proceed()
		return
	}
	if h.why != "" || !h.tty.suspend(by) {
		return
	}
	if !h.lease.Valid() {
		h.terminate(statusLost, h.reason())
		return
	}
	if h.tty == nil { // it was in the background, and may have been put into the foreground
		h.tty = ownTerminal()
	}
	h.tty.give(h.child)
	h.child.proceed()
}

// lend gives the command the terminal that it has asked for: a program whose input or output is a pipe may open it, to
// show pages or to ask for a password. It is false where zklock does not have it either.
func (h *hold) lend(by os.Signal) bool {
	if !asksForTerminal(by) {
		return false
	}
	if h.tty == nil {
		h.tty = controllingTerminal()
	}
	return h.tty.give(h.child)
}

// reason says why the lock is not ours, in words.
func (h *hold) reason() string { return lossOf(h.lease) }

// lossOf says why a lock is not ours any more, in words.
func lossOf(lease *locks.Lease) string {
	cause := context.Cause(lease.Context())
	var e *locks.Error
	if errors.As(cause, &e) && e.Reason != "" {
		return fmt.Sprintf("the lock was lost (%s)", e.Reason)
	}
	return "the lock was lost"
}

// verdict is the command's status, or why it had to end.
func (h *hold) verdict(end ending) error {
	if h.why != "" {
		how := fmt.Sprintf("ended with status %d", end.status)
		if h.killed {
			how = fmt.Sprintf("was killed after %v", h.grace)
		}
		return exitWith(h.status, "%s: %s; the command %s", h.path, h.why, how)
	}
	if end.status != 0 {
		return &exit{status: end.status}
	}
	return nil
}

// environment gives the environment of the command, with zklock's credentials where it is to have them.
func environment(lease *locks.Lease, credentials bool) []string {
	var env []string
	for _, v := range os.Environ() { // those of a zklock around this one would come first, and some programs take the first
		credential := strings.HasPrefix(v, authVariable+"=") || strings.HasPrefix(v, saslVariable)
		if !strings.HasPrefix(v, "ZKLOCK_") || credential && credentials {
			env = append(env, v)
		}
	}
	held := lease.Path() + "/" + lease.Node()
	if around := os.Getenv(heldVariable); around != "" {
		held = around + "\n" + held
	}
	return append(env,
		"ZKLOCK_PATH="+lease.Path(),
		"ZKLOCK_NODE="+lease.Node(),
		"ZKLOCK_TOKEN="+lease.Token().String(),
		heldVariable+"="+held)
}

// voice tells the person at the terminal, or the log, what happens while the command runs. It
// writes on a goroutine of its own: the reader of standard error may have stopped (a pager,
// Ctrl-S), and the command must end all the same when the lock is lost.
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
			_ = say(os.Stderr, "%s", line)
		}
	}()
	return v
}

// say does not wait until it is read.
func (v *voice) say(format string, args ...any) { v.lines <- fmt.Sprintf("zklock: "+format, args...) }

// close waits until everything is written.
func (v *voice) close() { close(v.lines); <-v.over }
