//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Scenes.
const (
	sceneKilled      = "killed"
	scenePaused      = "paused"
	sceneDown        = "down"
	sceneSilent      = "silent"
	scenePartitioned = "partitioned"
)

// options are the flags.
type options struct {
	scenes  []string
	trials  int
	timeout time.Duration // of zklock's sessions
	after   time.Duration // how long the first command has run
	most    time.Duration // how long the first may run beside the second
	consul  string        // a path; empty for none
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = measure(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parse reads the flags.
func parse(args []string, to io.Writer) (options, error) {
	var o options
	var scenes string
	f := flag.NewFlagSet("overlap", flag.ContinueOnError)
	f.SetOutput(to)
	usual := []string{sceneKilled, scenePaused, sceneDown, sceneSilent}
	all := append(slices.Clone(usual), scenePartitioned)
	f.StringVar(&scenes, "scenes", strings.Join(usual, ","), "what happens to the first, separated by commas")
	f.IntVar(&o.trials, "trials", 3, "how often each scene is played")
	f.DurationVar(&o.timeout, "timeout", 15*time.Second, "session timeout of zklock run; that of consul lock is always 15s")
	f.DurationVar(&o.after, "after", 40*time.Second, "how long the first command has run when the fault comes")
	f.DurationVar(&o.most, "most", 2*time.Minute, "how long the first command may run beside the second")
	f.StringVar(&o.consul, "consul", "", "a consul `binary`: consul lock is measured, too")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("overlap: %q is no flag", f.Arg(0))
	}
	if o.trials < 1 || o.timeout < time.Second || o.after < 0 || o.most <= 0 {
		return o, errors.New("overlap: -trials and -most must be above 0, -timeout a second or more, and -after not below 0")
	}
	for _, scene := range strings.Split(scenes, ",") {
		if !slices.Contains(all, scene) {
			return o, fmt.Errorf("overlap: -scenes %q is none of %s", scene, strings.Join(all, ", "))
		}
		o.scenes = append(o.scenes, scene)
	}
	return o, nil
}

// system is a command that runs another under a lock, with what it needs to be started.
type system interface {
	// side connects the first command of a trial; its link is closed when the trial is over.
	side(ctx context.Context) (link, error)
	// first and second run a command under a lock.
	first(l link, lock string, command []string) *exec.Cmd
	second(lock string, command []string) *exec.Cmd
	stop() error
}

// link connects the first command of a trial to its servers, or its agent.
type link interface {
	down() error
	silence() error
	partition() error
	close()
}

// measure plays all scenes that were asked for, and prints each trial as soon as it is over.
func measure(ctx context.Context, o options, to io.Writer) error {
	folder, err := os.MkdirTemp("", "overlap-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	p := &printer{to: to}
	zklock := filepath.Join(folder, "zklock")
	p.line("ZooKeeper %s, zklock run with a session timeout of %v; each first command ran for %v", rig.Version(), o.timeout, o.after)
	systems := map[string]func(scene string, number int) (system, error){
		"zklock": func(string, int) (system, error) { return startZooKeeper(zklock, o.timeout) },
	}
	if o.consul != "" {
		version, err := exec.CommandContext(ctx, o.consul, "version").Output()
		if err != nil {
			return fmt.Errorf("%s version: %w", o.consul, err)
		}
		first, _, _ := strings.Cut(string(version), "\n")
		p.line("%s, consul lock with its own session timeout and lock delay, 15s each", first)
		systems["consul"] = func(scene string, number int) (system, error) {
			return startConsul(ctx, o.consul, folder, scene, number)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", zklock, "github.com/turnstile-locks/turnstile/examples/zklock")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build zklock: %w\n%s", err, output)
	}
	p.line("%-8s %-11s %8s %8s %8s", "system", "scene", "gone", "second", "both")
	var all sync.WaitGroup
	failed := make(chan error, len(systems)*len(o.scenes))
	for name, start := range systems {
		for i, scene := range o.scenes {
			all.Go(func() {
				failed <- play(ctx, o, name, scene, folder, p, func() (system, error) { return start(scene, i) })
			})
		}
	}
	all.Wait()
	close(failed)
	for one := range failed {
		err = errors.Join(err, one)
	}
	return err
}

// play plays one scene as often as was asked for.
func play(ctx context.Context, o options, name, scene, folder string, p *printer, start func() (system, error)) error {
	s, err := start()
	if err != nil {
		return fmt.Errorf("%s, %s: %w", name, scene, err)
	}
	for i := range o.trials {
		t := trial{options: o, system: s, scene: scene,
			lock: fmt.Sprintf("overlap-%s-%d", scene, i), folder: filepath.Join(folder, fmt.Sprintf("%s-%s-%d", name, scene, i))}
		r, err := t.run(ctx)
		if err != nil {
			return errors.Join(fmt.Errorf("%s, %s: %w", name, scene, err), s.stop())
		}
		p.line("%-8s %-11s %8s %8.1f %8s", name, scene, r.atLeast(r.gone), r.second.Seconds(), r.atLeast(r.both))
	}
	return s.stop()
}

// printer prints lines of several goroutines.
type printer struct {
	mu sync.Mutex
	to io.Writer
}

func (p *printer) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.to, format+"\n", args...)
}
