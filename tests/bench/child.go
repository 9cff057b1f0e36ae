package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// childVariable has the spec of a child process in its environment.
const childVariable = "TURNSTILE_BENCH_CHILD"

// The tasks of children.
const (
	taskCompete = "compete"
	taskWait    = "wait"
	taskHold    = "hold"
	taskIdle    = "idle"
	taskGateway = "gateway"
)

// childSpec is the order for a child process of this program.
type childSpec struct {
	Task     string
	Peer     string
	Connect  string
	Path     string
	Paths    int // how many locks below Path
	N        int // workers or waiters
	Sessions int
	Process  int // which one it is
	Timeout  time.Duration
	Guard    string // file
	File     string // that Turnstile keeps its session in; empty for none
	Gateway  string // its address
	Cohort   int    // grants in a row
	Heap     string // file for a profile of the heap while everything waits; empty for none
}

// openers is the number of sessions that are opened at once.
const openers = 16

// open opens the sessions of a child, and gives what closes them. Turnstile's share one actor system, for thousands of those
// are too much for a process.
func (s childSpec) open(ctx context.Context, system *actor.ActorSystem) (all []session, end func(), err error) {
	var how []locks.LockOption
	if s.Cohort > 0 {
		how = append(how, locks.WithCohort(s.Cohort))
	}
	if s.Gateway != "" {
		return s.overGateway(ctx, how)
	}
	opts := []locks.Option{locks.WithActorSystem(system)}
	if s.Peer == oursNoSyncs {
		opts = append(opts, locks.WithoutIdleSyncs())
	}
	if s.File != "" {
		opts = append(opts, locks.WithSessionFile(s.File))
	}
	if s.Task == taskWait {
		opts = append(opts, unbounded...)
	}
	open := openTurnstileWith(opts, how...)
	if s.Peer == goZkLock {
		open = openZkLock
	}
	connects, errs := strings.Split(s.Connect, ","), make([]error, s.Sessions)
	all = make([]session, s.Sessions)
	s.atOnce(func(i int) { all[i], errs[i] = open(ctx, connects[i%len(connects)], s.Timeout) })
	end = func() {
		s.atOnce(func(i int) {
			if errs[i] == nil {
				all[i].close()
			}
		})
		system.Shutdown()
	}
	return all, end, errors.Join(errs...)
}

// atOnce does something for each session, for several at once.
func (s childSpec) atOnce(do func(i int)) {
	var running sync.WaitGroup
	for first := range openers {
		running.Go(func() {
			for i := first; i < s.Sessions; i += openers {
				do(i)
			}
		})
	}
	running.Wait()
}

// offspring is a child process. It says something by a line of JSON, and is told to go on by a line.
type offspring struct {
	*rig.Talker
	stderr rig.Tail
}

func startChild(spec childSpec) (*offspring, error) {
	cmd, err := rig.Again(childVariable, spec)
	if err != nil {
		return nil, err
	}
	c := &offspring{}
	cmd.Stderr = &c.stderr
	if c.Talker, err = rig.Talk(cmd); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return c, nil
}

// expect waits for the next line and reads it into a value; nil takes any.
func (c *offspring) expect(ctx context.Context, into any) error {
	select {
	case line, ok := <-c.Says:
		if !ok {
			<-c.Exited()
			return fmt.Errorf("bench: a child process ended: %w\n%s", c.Err(), c.stderr.String())
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal([]byte(line), into)
	case <-ctx.Done():
		return fmt.Errorf("bench: a child process says nothing: %w", context.Cause(ctx))
	}
}

// goOn lets the child take its next step.
func (c *offspring) goOn() error {
	if err := c.Tell(""); err != nil {
		return fmt.Errorf("bench: a child process does not listen: %w\n%s", err, c.stderr.String())
	}
	return nil
}

// end waits until the process has ended by itself, or ctx; then it is killed.
func (c *offspring) end(ctx context.Context) error {
	select {
	case <-c.Exited():
		if err := c.Err(); err != nil {
			return fmt.Errorf("bench: a child process ended: %w\n%s", err, c.stderr.String())
		}
		return nil
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), c.kill())
	}
}

// kill ends the process if it has not ended, and waits until it is gone.
func (c *offspring) kill() error {
	err := c.Kill()
	_ = c.In.Close()
	for range c.Says {
	}
	return err
}

// parent is a child's line to the process that started it.
type parent struct {
	to   *json.Encoder
	from *bufio.Reader
}

func (p *parent) tell(v any) error { return p.to.Encode(v) }

// await waits until the parent lets the child go on. An error says that the parent is gone.
func (p *parent) await() error {
	_, err := p.from.ReadString('\n')
	return err
}

// beChild does what a spec says. The parent kills a child that takes too long.
func beChild(spec childSpec) error {
	be := map[string]func(context.Context, childSpec, *parent) error{
		taskCompete: compete, taskWait: beWaiters, taskHold: beHolder, taskIdle: beIdlers, taskGateway: beGateway}[spec.Task]
	return be(context.Background(), spec, &parent{json.NewEncoder(os.Stdout), bufio.NewReader(os.Stdin)})
}
