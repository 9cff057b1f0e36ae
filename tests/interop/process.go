package interop

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/child"
)

// farewell bounds the time that a worker takes to end once it has no more input.
const farewell = 20 * time.Second

// process is a worker's process. It is asked over its standard input and answers
// on its standard output.
type process struct {
	*child.Process
	stdin io.WriteCloser
}

// startProcess runs a command and gives every line of its standard output to
// answer, on one goroutine; standard error goes to output.
func startProcess(output *child.Tail, answer func(line string), command ...string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("interop: %s: %w", command[0], err)
	}
	reader, writer := io.Pipe()
	cmd.Stdout = writer
	var reading sync.WaitGroup
	reading.Go(func() { readLines(reader, answer) })
	finish := func() {
		_ = writer.Close()
		reading.Wait()
	}
	p, err := child.Start(cmd, finish)
	if err != nil {
		finish()
		return nil, fmt.Errorf("interop: %w", err)
	}
	return &process{Process: p, stdin: stdin}, nil
}

// stop ends the input and waits until the process has ended, which it is made
// to when it takes too long.
func (p *process) stop() error {
	_ = p.stdin.Close()
	select {
	case <-p.Exited():
	case <-time.After(farewell):
		err := errors.New("interop: it did not end with its input, and was killed")
		return errors.Join(err, p.Kill())
	}
	if p.Err() != nil {
		return fmt.Errorf("interop: worker ended: %w", p.Err())
	}
	return nil
}
