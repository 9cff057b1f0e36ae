package main

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

// process is one run of a client.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // how it ended; to be read after exited is closed
}

// startProcess runs this program again. The kernel's parent-death signal belongs to the thread that
// forked, so the goroutine that forks stays on its thread until the child has ended.
func startProcess(args []string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), clientVariable+"=1")
	cmd.SysProcAttr = dieWithParent()
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("soak: start a client: %w", err)
	}
	return p, nil
}

// clientVariable is set in the environment of clients, so that a test binary knows that it is one.
const clientVariable = "TURNSTILE_SOAK_CLIENT"

// kill ends it with SIGKILL, stopped or not, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
}

// pause stops every thread (SIGSTOP) and waits until the kernel says that it has.
func (p *process) pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("soak: stop a client: %w", err)
	}
	for range 1000 {
		if p.gone() || p.stopped() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (p *process) resume() error {
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("soak: continue a client: %w", err)
	}
	return nil
}

func (p *process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stopped says whether all threads stand still. Where there is no /proc, it takes the signal's word.
func (p *process) stopped() bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	for _, name := range stats {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		text := string(content)
		_, state, _ := strings.Cut(text[strings.LastIndexByte(text, ')')+1:], " ")
		if !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
