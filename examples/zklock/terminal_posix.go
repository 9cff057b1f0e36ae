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
	file  *os.File // that has it open; nil where it is the standard input
	fd    int
	group int         // zklock's own process group
	state *term.State // as it was
}

// ownTerminal is the terminal that is zklock's to give when the command begins: its standard input, where its process
// group is in the foreground. Where the output goes into a pipe there may be another program in the group, such as less,
// that wants the terminal: then the command gets it only when it asks for it (see hold.lend).
func ownTerminal() *terminal {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	if info, err := os.Stdout.Stat(); err != nil || info.Mode()&os.ModeNamedPipe != 0 {
		return nil
	}
	return terminalAt(fd)
}

// controllingTerminal is the terminal of zklock's session, whatever its standard input is, where its process group is in
// the foreground.
func controllingTerminal() *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	t := terminalAt(int(file.Fd()))
	if t == nil {
		file.Close()
		return nil
	}
	t.file = file
	return t
}

// terminalAt is the terminal of a file descriptor, nil where zklock's process group is not in its foreground.
func terminalAt(fd int) *terminal {
	group := unix.Getpgrp()
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || front != group {
		return nil
	}
	state, err := term.GetState(fd)
	if err != nil {
		return nil
	}
	return &terminal{fd: fd, group: group, state: state}
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

// asksForTerminal tells whether a signal stopped who wanted the terminal and is not in its foreground.
func asksForTerminal(s os.Signal) bool { return s == syscall.SIGTTIN || s == syscall.SIGTTOU }

// give makes the command's process group the foreground, where zklock's is it: after fg, and not after bg. It tells
// whether it did.
func (t *terminal) give(c *child) bool {
	if t == nil {
		return false
	}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil || front != t.group {
		return false
	}
	t.toFront(c.pid)
	return true
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
