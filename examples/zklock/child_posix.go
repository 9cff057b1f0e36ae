//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// processGroups reports whether run can end all that the command has started.
const processGroups = true

// child is the command's process and its process group, whose number is the process's.
type child struct {
	pid     int
	session int    // of processes
	node    string // of the contender, by which what the command has started is known
	ended   chan ending
	stops   chan os.Signal
}

// ending says how it ended: the status as a shell tells it.
type ending struct {
	status int
	killed bool // by a signal
}

// startChild starts the command in a process group of its own, and gives it the terminal where
// zklock has it.
//
// The kernel's parent-death signal (child_linux.go) belongs to the thread that forked, and the Go runtime ends
// threads that it has no use for. So a goroutine of its own forks, and stays locked to its thread until the child has
// been reaped.
func startChild(cmd *exec.Cmd, node string, tty *terminal) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if tty != nil {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, tty.fd
	}
	dieWithParent(cmd.SysProcAttr)
	session, _ := unix.Getsid(0)
	c := &child{session: session, node: node, ended: make(chan ending, 1), stops: make(chan os.Signal, 1)}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			c.wait()
		}
	}()
	err := <-started
	// From now on zklock may be in the background of its terminal, and must neither stop when it has something to say
	// there (stty tostop), nor when it takes the terminal back. Not before: the command would inherit it.
	signal.Ignore(syscall.SIGTTOU)
	return c, err
}

// wait reaps the process, and tells each time that it is stopped. exec.Cmd's Wait does not tell that, and nothing else
// is left to it: the standard files are handed on as they are.
func (c *child) wait() {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // it cannot be: nobody else reaps it
			c.ended <- ending{status: statusRefused}
			return
		case status.Stopped():
			c.stops <- status.StopSignal()
		case status.Signaled():
			c.ended <- ending{status: statusSignalled + int(status.Signal()), killed: true}
			return
		default:
			c.ended <- ending{status: status.ExitStatus()}
			return
		}
	}
}

// signal passes a signal on.
func (c *child) signal(s os.Signal) {
	if n, ok := s.(syscall.Signal); ok && c.pid > 1 { // the guard may not know it
		_ = syscall.Kill(-c.pid, n)
	}
}

// terminateGroup asks every process of the group, and its strays, to end; one that is stopped has to go on to hear it.
func (c *child) terminateGroup() {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		c.signal(s)
		signalStrays(c.node, c.pid, c.session, s)
	}
}

func (c *child) killGroup() {
	c.signal(syscall.SIGKILL)
	// Again, until processes that they had just started are gone, too. A process that the kernel
	// does not let go is not waited for.
	for range 500 {
		if !signalStrays(c.node, c.pid, c.session, syscall.SIGKILL) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// proceed lets a group that was stopped go on.
func (c *child) proceed() { c.signal(syscall.SIGCONT) }

// groupLives reports whether a process of the group is left, or a stray.
func (c *child) groupLives() bool {
	return syscall.Kill(-c.pid, 0) != syscall.ESRCH || signalStrays(c.node, c.pid, c.session, 0)
}

// passedOn are the signals that the command gets. SIGTSTP is among them because zklock must not stand still while its
// command runs on: the command is stopped first.
var passedOn = append([]os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP}, endingSignals...)

// passSignals catches the signals that are for the command. Signals that are ignored, as SIGHUP
// under nohup, stay so.
func passSignals() <-chan os.Signal {
	caught := make(chan os.Signal, 32)
	for _, s := range passedOn {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	return caught
}

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

// controllingTerminal is the terminal of zklock's session, with any standard input; nil unless
// zklock's process group is in the foreground.
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

// inFront reports whether zklock may write to a terminal now: not while it is a job in the background, and somebody
// types something else. A terminal that is not zklock's controlling terminal has no say in that.
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

// toFront puts a process group into the foreground. A process that does that from the background
// would get SIGTTOU, which startChild has ignored.
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

// asksForTerminal reports whether a signal stopped a process that wanted the terminal and was not
// in its foreground.
func asksForTerminal(s os.Signal) bool { return s == syscall.SIGTTIN || s == syscall.SIGTTOU }

// give makes the command's process group the foreground where zklock's is it: after fg, and not
// after bg. It reports whether it did.
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

// jobControl reports whether there is a shell that would let zklock go on: its parent, at the same terminal.
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

// notifyResize tells when the terminal has another size.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
