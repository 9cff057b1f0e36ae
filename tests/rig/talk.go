package rig

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Talker is a process that talks in lines.
type Talker struct {
	*Process
	In   io.WriteCloser
	Says <-chan string // its lines, closed behind the last
}

// linesKept is how many lines a process says before somebody listens.
const linesKept = 10_000

// Talk starts a command, and listens to its standard output.
func Talk(cmd *exec.Cmd) (*Talker, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, writer := io.Pipe()
	cmd.Stdout = writer
	says := make(chan string, linesKept)
	go func() {
		defer close(says)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			says <- lines.Text()
		}
	}()
	p, err := StartProcess(cmd, func() { _ = writer.Close() })
	if err != nil {
		_ = writer.Close()
	}
	return &Talker{p, in, says}, err
}

// Tell writes a line to its standard input.
func (t *Talker) Tell(line string) error {
	_, err := fmt.Fprintln(t.In, line)
	return err
}

// Again is this test binary in a process of its own, which carries out an order instead of tests: see Ordered.
func Again(variable string, order any) (*exec.Cmd, error) {
	text, err := json.Marshal(order)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	// The race detector keeps a process that ends for a second otherwise.
	cmd.Env = append(os.Environ(), variable+"="+string(text), "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	return cmd, err
}

// Ordered has this process carry out the order that Again has given it, if there is one, and end.
func Ordered[O any](variable string, carryOut func(O) error) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var order O
	err := json.Unmarshal([]byte(text), &order)
	if err == nil {
		err = carryOut(order)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
