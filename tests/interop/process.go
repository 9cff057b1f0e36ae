package interop

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// farewell is how long a worker may take to end once it has no more input.
const farewell = 20 * time.Second

// process is a worker's process, from its start to its exit. It is asked over
// its standard input and answers on its standard output.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{} // closed once the process has been reaped
	err    error         // how it ended; to be read after exited is closed
}

// startProcess runs a command and gives every line of its standard output to
// answer, on one goroutine; standard error goes to output.
//
// The kernel's parent-death signal belongs to the thread that forked, and the
// Go runtime ends threads that it has no use for. So a goroutine of its own
// forks, and stays locked to its thread until the child has been reaped.
func startProcess(output *tail, answer func(line string), command ...string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = output
	cmd.SysProcAttr = dieWithParent()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("interop: %s: %w", command[0], err)
	}
	reader, writer := io.Pipe()
	cmd.Stdout = writer

	p := &process{cmd: cmd, stdin: stdin, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		var reading sync.WaitGroup
		reading.Go(func() { readLines(reader, answer) })
		p.err = cmd.Wait()
		_ = writer.Close()
		reading.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("interop: start %s: %w", command[0], err)
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

// stop ends the input and waits until the process has ended, which it is made
// to when it takes too long.
func (p *process) stop() error {
	_ = p.stdin.Close()
	select {
	case <-p.exited:
	case <-time.After(farewell):
		err := errors.New("interop: it did not end with its input, and was killed")
		return errors.Join(err, p.kill())
	}
	if p.err != nil {
		return fmt.Errorf("interop: worker ended: %w", p.err)
	}
	return nil
}

func (p *process) kill() error {
	if !p.running() {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && p.running() {
		return fmt.Errorf("interop: kill worker: %w", err)
	}
	<-p.exited
	return nil
}
