package interop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/child"
)

// Worker is a process of another client that does jobs. Its methods may be
// called from several goroutines.
//
// A job is a line of the process's standard input, and its outcome a line of its
// standard output:
//
//	<id> <key=value>...      done <id> <summary>
//	                         failed <id> <reason>
type Worker struct {
	kind    string
	process *process
	output  child.Tail

	mu      sync.Mutex // guards what follows, and the process's standard input
	last    int
	waiting map[int]chan outcome
}

type outcome struct {
	summary Summary
	err     error
}

// newWorker starts a command that takes jobs.
func newWorker(kind string, command ...string) (*Worker, error) {
	w := &Worker{kind: kind, waiting: map[int]chan outcome{}}
	process, err := startProcess(&w.output, w.take, command...)
	if err != nil {
		return nil, err
	}
	w.process = process
	return w, nil
}

// stopWith stops a worker with its test, and shows what it printed if the test
// has failed.
func (w *Worker) stopWith(t testing.TB) {
	t.Cleanup(func() {
		err := w.Stop()
		if err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("output of %s:\n%s", w.kind, w.Output())
		}
	})
}

// Run has the worker do a job and waits for the outcome. A worker may do several
// jobs at the same time.
func (w *Worker) Run(ctx context.Context, job Job) (Summary, error) {
	id, done, err := w.send(job)
	if err != nil {
		return Summary{}, err
	}
	select {
	case o := <-done:
		if o.err != nil {
			return Summary{}, fmt.Errorf("interop: %s, %s %s: %w", w.kind, job.Name, job.Recipe, o.err)
		}
		return o.summary, nil
	case <-w.process.Exited():
		return Summary{}, fmt.Errorf("interop: %s ended: %w\n%s", w.kind, w.process.Err(), w.Output())
	case <-ctx.Done():
		w.forget(id)
		return Summary{}, fmt.Errorf("interop: %s, %s: %w\n%s", w.kind, job.Name, ctx.Err(), w.Output())
	}
}

func (w *Worker) send(job Job) (int, <-chan outcome, error) {
	if err := job.check(); err != nil {
		return 0, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	line := fmt.Sprintf("%d %s\n", w.last, strings.Join(job.Arguments(), " "))
	if _, err := w.process.stdin.Write([]byte(line)); err != nil {
		return 0, nil, fmt.Errorf("interop: send a job to %s: %w\n%s", w.kind, err, w.Output())
	}
	done := make(chan outcome, 1)
	w.waiting[w.last] = done
	return w.last, done, nil
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

// Pid returns the number by which the system knows the process.
func (w *Worker) Pid() int { return w.process.Pid() }

// Running reports whether the process has not ended yet.
func (w *Worker) Running() bool { return w.process.Running() }

// Kill ends the process with SIGKILL, and waits until it is gone; its sessions are left to expire.
func (w *Worker) Kill() error { return w.process.Kill() }

// Stop ends the process, and waits until it has. It may be called again.
func (w *Worker) Stop() error { return w.process.stop() }
