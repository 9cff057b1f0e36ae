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
)

// processGroups tells whether run can end all that the command has started.
const processGroups = true

// child is the command's process and its process group, whose number is the process's.
type child struct {
	pid     int
	session int    // of processes
	node    string // of the contender, by which what the command has started is known
	ended   chan ending
	stops   chan os.Signal
}

// ending is how it ended: the status as a shell tells it.
type ending struct {
	status int
	killed bool // by a signal
}

// startChild starts the command in a process group of its own, with the terminal where there is one to give.
//
// The kernel's parent-death signal (pdeathsig_linux.go) belongs to the thread that forked, and the Go runtime ends
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
	// Again, until those that they had just started are gone too; one that the kernel does not let go is not waited for.
	for range 500 {
		if !signalStrays(c.node, c.pid, c.session, syscall.SIGKILL) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// proceed lets a group that was stopped go on.
func (c *child) proceed() { c.signal(syscall.SIGCONT) }

// groupLives tells whether a process of the group is left, or a stray.
func (c *child) groupLives() bool {
	return syscall.Kill(-c.pid, 0) != syscall.ESRCH || signalStrays(c.node, c.pid, c.session, 0)
}

// passedOn are the signals that the command gets. SIGTSTP is among them because zklock must not stand still while its
// command runs on: the command is stopped first.
var passedOn = append([]os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP}, endingSignals...)

// passSignals catches the signals that are for the command. Those that are ignored, as SIGHUP under nohup, stay so.
func passSignals() <-chan os.Signal {
	caught := make(chan os.Signal, 32)
	for _, s := range passedOn {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	return caught
}
