package interop

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// farewell bounds the time that a worker takes to end once it has no more input.
const farewell = 20 * time.Second

// Worker is a process of another client that does jobs. Its methods may be
// called from several goroutines.
//
// A job is a line of the process's standard input, and its outcome a line of its
// standard output:
//
//	<id> <key=value>...      done <id> <summary>
//	                         failed <id> <reason>
type Worker struct {
	*rig.Talker
	kind   string
	output rig.Tail
	silent chan struct{} // closed when it has said its last

	mu      sync.Mutex // guards what follows, and the process's standard input
	last    int
	waiting map[int]chan outcome
}

type outcome struct {
	summary Summary
	err     error
}

// newWorker starts a command that takes jobs, unless there is an error already.
func newWorker(kind string, command []string, err error) (*Worker, error) {
	if err != nil {
		return nil, err
	}
	w := &Worker{kind: kind, silent: make(chan struct{}), waiting: map[int]chan outcome{}}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = &w.output
	if w.Talker, err = rig.Talk(cmd); err != nil {
		return nil, fmt.Errorf("interop: %w", err)
	}
	go func() {
		defer close(w.silent)
		for line := range w.Says {
			w.take(line)
		}
	}()
	return w, nil
}

// Run has the worker do a job and waits for the outcome. A worker may do several
// jobs at the same time.
func (w *Worker) Run(ctx context.Context, job Job) (Summary, error) {
	id, done, err := w.send(job)
	if err != nil {
		return Summary{}, fmt.Errorf("interop: send a job to %s: %w\n%s", w.kind, err, w.Output())
	}
	select {
	case o := <-done:
		if o.err != nil {
			return Summary{}, fmt.Errorf("interop: %s, %s %s: %w", w.kind, job.Name, job.Recipe, o.err)
		}
		return o.summary, nil
	case <-w.silent:
		<-w.Exited()
		return Summary{}, fmt.Errorf("interop: %s ended: %w\n%s", w.kind, w.Err(), w.Output())
	case <-ctx.Done():
		w.forget(id)
		return Summary{}, fmt.Errorf("interop: %s, %s: %w\n%s", w.kind, job.Name, ctx.Err(), w.Output())
	}
}

func (w *Worker) send(job Job) (int, <-chan outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	done := make(chan outcome, 1)
	w.waiting[w.last] = done
	return w.last, done, w.Tell(fmt.Sprint(w.last, " ", strings.Join(job.arguments(), " ")))
}

func (w *Worker) forget(id int) (chan outcome, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, ok := w.waiting[id]
	delete(w.waiting, id)
	return done, ok
}

// take reads a line that the process printed. A line that is no outcome is kept with the rest of
// its output.
func (w *Worker) take(line string) {
	words := strings.SplitN(line, " ", 3)
	if len(words) == 3 && (words[0] == "done" || words[0] == "failed") {
		id, err := strconv.Atoi(words[1])
		if done, ok := w.forget(id); err == nil && ok {
			done <- parseOutcome(words[0], words[2])
			return
		}
	}
	_, _ = w.output.Write([]byte(line + "\n"))
}

func parseOutcome(verb, rest string) outcome {
	if verb == "failed" {
		return outcome{err: errors.New(rest)}
	}
	summary, err := parseSummary(strings.Fields(rest))
	return outcome{summary: summary, err: err}
}

// Output returns the end of the worker's output.
func (w *Worker) Output() string { return w.output.String() }

// Stop ends the process's input and waits until it has ended, which it is made to when it takes too long. It may be
// called again.
func (w *Worker) Stop() error {
	_ = w.In.Close()
	select {
	case <-w.silent:
		<-w.Exited()
	case <-time.After(farewell):
		return errors.Join(fmt.Errorf("interop: %s did not end with its input, and was killed", w.kind), w.Kill())
	}
	if w.Err() != nil {
		return fmt.Errorf("interop: %s ended: %w", w.kind, w.Err())
	}
	return nil
}
