//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// trial is one pair of commands, and what happens to the first.
type trial struct {
	options
	system
	scene, lock, folder string
}

// result has the times of a trial. They are counted from the fault.
type result struct {
	gone, second, both time.Duration
	outlived           bool // the first command was still there when the trial ended
}

// atLeast prints a time that may not be over.
func (r result) atLeast(d time.Duration) string {
	if r.outlived {
		return fmt.Sprintf(">%.1f", d.Seconds())
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}

// look is how often a trial looks: the error of its times on an idle machine.
const look = 5 * time.Millisecond

// begins bounds the time until a command begins whose turn it is.
const begins = 5 * time.Minute

func (t trial) run(ctx context.Context) (result, error) {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return result{}, err
	}
	l, err := t.side(ctx)
	if err != nil {
		return result{}, err
	}
	defer l.close()
	first, err := t.start("first", func(command []string) *exec.Cmd { return t.first(l, t.lock, command) })
	if err != nil {
		return result{}, err
	}
	defer first.end()
	if err := first.begin(ctx); err != nil {
		return result{}, err
	}
	second, err := t.start("second", func(command []string) *exec.Cmd { return t.second(t.lock, command) })
	if err != nil {
		return result{}, err
	}
	defer second.end()
	if !rig.Rest(ctx, t.after) {
		return result{}, ctx.Err()
	}
	if second.has() || !alive(first.pid) {
		return result{}, errors.New("the first command had the lock no more before the fault")
	}
	struck := time.Now()
	if err := t.strike(first, l); err != nil {
		return result{}, err
	}
	return t.watch(ctx, first, second, struck)
}

// strike has the fault happen.
func (t trial) strike(first *runner, l link) error {
	switch t.scene {
	case sceneKilled:
		return first.Kill()
	case scenePaused:
		first.signal(syscall.SIGSTOP)
		return nil
	case sceneDown:
		return l.down()
	case scenePartitioned:
		return l.partition()
	default:
		return l.silence()
	}
}

// watch waits until the first command is gone and the second has begun.
func (t trial) watch(ctx context.Context, first, second *runner, struck time.Time) (r result, err error) {
	counts := time.Time{} // from when on the first runs beside the second
	for limit := struck.Add(begins); ; {
		now := time.Now()
		if r.gone == 0 && !alive(first.pid) {
			r.gone = now.Sub(struck)
		}
		if counts.IsZero() && second.has() {
			counts, r.second, limit = now, now.Sub(struck), now.Add(t.most)
			if t.scene == scenePaused {
				first.signal(syscall.SIGCONT)
				counts = time.Now()
			}
		}
		r.outlived = r.gone == 0
		switch {
		case r.gone > 0 && !counts.IsZero():
			r.both = max(0, struck.Add(r.gone).Sub(counts))
			return r, nil
		case now.Before(limit):
		case counts.IsZero():
			return r, fmt.Errorf("the second command had not begun %v after the fault:\n%s", begins, second.said())
		default:
			r.gone, r.both = now.Sub(struck), now.Sub(counts)
			return r, nil
		}
		if !rig.Rest(ctx, look) {
			return r, ctx.Err()
		}
	}
}

// runner is a command that runs another one under the lock.
type runner struct {
	*child.Process
	note, log string // files
	pid       int    // of the command that it runs, once it has begun
}

// start starts one. Its command notes its own number when it begins, and then does nothing.
func (t trial) start(name string, with func(command []string) *exec.Cmd) (*runner, error) {
	r := &runner{note: filepath.Join(t.folder, name), log: filepath.Join(t.folder, name+".log")}
	script := fmt.Sprintf("echo $$ > '%s.new' && mv '%[1]s.new' '%[1]s' && exec sleep 3600", r.note)
	cmd := with([]string{"sh", "-c", script})
	log, err := os.Create(r.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	r.Process, err = child.Start(cmd, nil)
	return r, err
}

// begin waits until its command has begun.
func (r *runner) begin(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, begins)
	defer cancel()
	for !r.has() {
		if !r.Running() {
			return fmt.Errorf("it ended before it had the lock: %w\n%s", r.Err(), r.said())
		}
		if !rig.Rest(within, look) {
			return fmt.Errorf("the first command has not begun: %w\n%s", within.Err(), r.said())
		}
	}
	return nil
}

// has reports whether its command has begun.
func (r *runner) has() bool {
	if r.pid == 0 {
		text, err := os.ReadFile(r.note)
		if err != nil {
			return false
		}
		r.pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return r.pid != 0
}

func (r *runner) said() string {
	text, _ := os.ReadFile(r.log)
	return string(text)
}

// signal sends a signal to it, and to all processes below it.
func (r *runner) signal(sig syscall.Signal) {
	for _, pid := range append([]int{r.Pid()}, below(r.Pid())...) {
		_ = syscall.Kill(pid, sig) // one that is gone needs none
	}
}

// end ends it and its command.
func (r *runner) end() {
	_ = r.Kill()
	if r.has() {
		_ = syscall.Kill(r.pid, syscall.SIGKILL)
	}
}

// alive reports whether a process is there and has not ended.
func alive(pid int) bool { return !strings.ContainsAny(state(pid), "ZX") }

// state gives a process's state, as one letter of ps; X for one that is gone.
func state(pid int) string {
	if letter, _, ok := stat(pid); ok {
		return letter
	}
	return "X"
}

// stat reads a process's state and its parent. Both are after the name, which is in parentheses and may contain some.
func stat(pid int) (state string, parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return "", 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err == nil
}

// below lists the processes below one.
func below(pid int) (all []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		one, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if _, parent, ok := stat(one); ok && parent == pid {
			all = append(append(all, one), below(one)...)
		}
	}
	return all
}
