//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the one that the command has while it runs. All methods do nothing where it is nil.
type terminal struct {
	fd    int
	group int         // zklock's own process group
	state *term.State // as it was
}

// ownTerminal is the terminal that is zklock's to give: its standard input, where its process group is in the
// foreground. Where the output goes into a pipe there is another program in the group, such as less, that wants the
// terminal: then the command does not get it.
func ownTerminal() *terminal {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	if info, err := os.Stdout.Stat(); err != nil || info.Mode()&os.ModeNamedPipe != 0 {
		return nil
	}
	group := unix.Getpgrp()
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || front != group {
		return nil
	}
	state, err := term.GetState(fd)
	if err != nil {
		return nil
	}
	return &terminal{fd, group, state}
}

// inFront tells whether what zklock writes to a terminal belongs there now: not while it is a job in the background, and
// somebody types something else. A terminal that is not zklock's controlling terminal has no say in that.
func inFront(fd int) bool {
	front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || front == unix.Getpgrp()
}

// takeBack makes zklock's process group the foreground again. mend puts the terminal as it was, for a command that had
// no time to do so.
func (t *terminal) takeBack(mend bool) {
	if t == nil {
		return
	}
	t.toFront(t.group)
	if mend {
		_ = term.Restore(t.fd, t.state)
	}
}

// toFront puts a process group into the foreground. Who does that from the background would get SIGTTOU, which
// startChild has ignored.
func (t *terminal) toFront(group int) { _ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) }

// suspend stops zklock because the command was stopped, and returns when it goes on. It is false where there is nobody
// who would let it go on: then zklock does not stop.
func (t *terminal) suspend(by os.Signal) bool {
	if t == nil && by == syscall.SIGSTOP {
		return false // somebody has stopped the command, and it only
	}
	if !jobControl() {
		return false
	}
	if t != nil {
		t.toFront(t.group)
	}
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	whom := unix.Getpid()
	if t != nil {
		whom = 0 // all of our process group, as Ctrl-Z does it: a script that runs zklock stops too
	}
	if err := unix.Kill(whom, unix.SIGSTOP); err != nil {
		return true
	}
	<-resumed
	return true
}

// give makes the command's process group the foreground, where zklock's is it: after fg, and not after bg.
func (t *terminal) give(c *child) {
	if t == nil {
		return
	}
	if front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); err == nil && front == t.group {
		t.toFront(c.pid)
	}
}

// jobControl tells whether there is a shell that would let zklock go on: its parent, at the same terminal.
func jobControl() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	tty.Close()
	here, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	there, err := unix.Getsid(unix.Getppid())
	return err == nil && here == there
}
