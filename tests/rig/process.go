package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is one run of a server, from its start to its exit.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once the process has been reaped
	err    error         // how it ended; to be read after exited is closed
}

// startProcess runs the command until it ends or is killed.
//
// The kernel's parent-death signal belongs to the thread that forked, and the
// Go runtime ends threads that it has no use for. So a goroutine of its own
// forks, and stays locked to its thread until the child has been reaped.
func startProcess(output *tail, dir string, args []string) (*process, error) {
	cmd := exec.Command("java", args...)
	cmd.Dir = dir
	cmd.Stdout = output
	cmd.Stderr = output
	cmd.SysProcAttr = dieWithParent()

	p := &process{cmd: cmd, exited: make(chan struct{})}
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
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("rig: start java: %w", err)
	}
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends the process, paused or not, and waits until it is gone.
func (p *process) kill() error {
	if !p.running() {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && p.running() {
		return fmt.Errorf("rig: kill server: %w", err)
	}
	<-p.exited
	return nil
}

// pause stops every thread of the process. The signal takes effect a moment
// after it was sent, so pause waits until the kernel says that it has.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for p.running() && !p.stopped() {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (p *process) resume() error { return p.signal(syscall.SIGCONT) }

func (p *process) signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("rig: signal %v: %w", sig, err)
	}
	return nil
}

// stopped says whether all threads stand still. Where there is no /proc, it
// takes the signal's word.
func (p *process) stopped() bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	for _, name := range stats {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		// The state is the field after the name, which is in parentheses and may
		// itself contain some.
		_, rest, _ := strings.Cut(string(content[strings.LastIndexByte(string(content), ')')+1:]), " ")
		if !strings.HasPrefix(rest, "T") {
			return false
		}
	}
	return true
}
