package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Process is one run of a command, from its start to its exit.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // how it ended; to be read after exited is closed
}

// StartProcess runs a command. Between the end of the process and the end of Exited, after is called, if it is not nil.
//
// The kernel's parent-death signal belongs to the thread that forked, and the Go runtime ends threads that it
// has no use for. So a goroutine of its own forks, and stays locked to its thread until the child has been
// reaped.
func StartProcess(cmd *exec.Cmd, after func()) (*Process, error) {
	cmd.SysProcAttr = dieWithParent()
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		if after != nil {
			after()
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// RunProcess runs a command to its end.
func RunProcess(cmd *exec.Cmd) error {
	p, err := StartProcess(cmd, nil)
	if err != nil {
		return err
	}
	<-p.exited
	return p.err
}

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Exited is closed once the process has been reaped.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err says how the process ended; it is for after Exited.
func (p *Process) Err() error { return p.err }

// Running reports whether the process has not ended yet. One that is stopped runs.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Kill ends the process with SIGKILL, stopped or not, and waits until it is gone.
func (p *Process) Kill() error {
	if !p.Running() {
		return nil
	}
	// One that has just been reaped is gone, though its end has not been noted yet.
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) && p.Running() {
		return fmt.Errorf("kill %s: %w", p.cmd.Path, err)
	}
	<-p.exited
	return nil
}

// Pause stops every thread of the process. The signal takes effect a moment after it was sent, so Pause waits until
// the kernel says that it has.
func (p *Process) Pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for p.Running() && !p.stopped() {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// Resume lets the process go on.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("signal %v to %s: %w", sig, p.cmd.Path, err)
	}
	return nil
}

// stopped reports whether all threads stand still. Where there is no /proc, it takes the signal's word.
func (p *Process) stopped() bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Pid()))
	for _, name := range stats {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		// The state is the field after the name, which is in parentheses and may itself contain some.
		text := string(content)
		_, state, _ := strings.Cut(text[strings.LastIndexByte(text, ')')+1:], " ")
		if !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
