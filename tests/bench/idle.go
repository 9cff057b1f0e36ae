package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Of an idle session.
const (
	// spansPerTimeout is the session timeout over -span: 10 s, unless told otherwise.
	spansPerTimeout = 10
	// mostHolders bounds how many sessions hold at once: each commits a transaction every sixth of its timeout.
	mostHolders = 500
	// openers is the number of sessions that are opened at once.
	openers = 16
)

// idle measures the cost of sessions that do nothing, and of sessions that hold a lock each.
var idle = workload{
	name: "idle", per: "sessions, spread over the servers; session timeout ten times -span", sizes: []int{1000}, quick: []int{5}, named: true, noSyncs: true,
	metrics: []metric{
		{"idle", "packets/s", neither, "Packets a second of an idle session"},
		{"idle-cpu", "ms/s/1000", neither, "Processor time of all servers in a second, for 1 000 idle sessions"},
		{"idle-held", "packets/s", neither, "Packets a second of a session that holds a lock"},
		{"idle-held-cpu", "ms/s/1000", neither, "Processor time of all servers in a second, for 1 000 sessions that hold a lock"},
	},
	library: func(ctx context.Context, t trial, _ opener) (figures, error) { return t.idling(ctx) },
}

// idling measures the servers without sessions, with idle ones, and with ones that hold.
func (t trial) idling(ctx context.Context) (figures, error) {
	without, err := t.stage.usage(ctx, t.o.span*spansPerTimeout)
	if err != nil {
		return nil, err
	}
	does, err := t.idlers(ctx, t.n, false)
	if err != nil {
		return nil, err
	}
	holders := min(t.n, mostHolders)
	holds, err := t.idlers(ctx, holders, true)
	if err != nil {
		return nil, err
	}
	does, holds = does.of(without, t.n), holds.of(without, holders)
	return figures{"idle": does.packets, "idle-cpu": 1000 * does.processor, "idle-held": holds.packets, "idle-held-cpu": 1000 * holds.processor}, nil
}

// usage has the servers' work in a second.
type usage struct {
	packets   float64
	processor float64 // milliseconds
}

// of gives the share of each of n sessions.
func (u usage) of(without usage, n int) usage {
	return usage{(u.packets - without.packets) / float64(n), (u.processor - without.processor) / float64(n)}
}

// usage watches the servers for a while.
func (s *stage) usage(ctx context.Context, d time.Duration) (usage, error) {
	begin := time.Now()
	packets, err := s.packets(ctx)
	processor, err2 := s.processor()
	if err := errors.Join(err, err2); err != nil {
		return usage{}, err
	}
	rig.Rest(ctx, d)
	packets2, err := s.packets(ctx)
	processor2, err2 := s.processor()
	if err := errors.Join(err, err2, ctx.Err()); err != nil {
		return usage{}, err
	}
	passed := time.Since(begin).Seconds()
	return usage{float64(packets2-packets) / passed, millis(processor2-processor) / passed}, nil
}

// idlers measures the servers while a process has n sessions, for two session timeouts.
func (t trial) idlers(ctx context.Context, n int, hold bool) (usage, error) {
	spec := childSpec{Task: taskIdle, Peer: t.peer, Connect: t.stage.all(), N: n, Timeout: t.o.span * spansPerTimeout}
	if hold {
		spec.Path = t.path
		for i := range n {
			if err := t.stage.monitor.makePath(t.own(i)); err != nil {
				return usage{}, err
			}
		}
	}
	c, err := startChild(spec)
	if err != nil {
		return usage{}, err
	}
	defer func() { _ = c.kill() }()
	if err := c.expect(ctx, nil); err != nil {
		return usage{}, err
	}
	rig.Rest(ctx, spec.Timeout/2) // what was asked for at the beginning has been answered
	found, err := t.stage.usage(ctx, 2*spec.Timeout)
	return found, errors.Join(err, c.goOn(), c.end(ctx))
}

// beIdlers is the process that has the sessions. With a path each holds a lock of its own.
func beIdlers(ctx context.Context, spec childSpec, to *parent) error {
	open, end := idlerOf(spec)
	defer end()
	connects := strings.Split(spec.Connect, ",")
	sessions, errs := make([]session, spec.N), make([]error, openers)
	begin := func(i int) (err error) {
		if sessions[i], err = open(ctx, connects[i%len(connects)], spec.Timeout); err == nil && spec.Path != "" {
			_, err = sessions[i].lock(ctx, trial{path: spec.Path}.own(i))
		}
		return err
	}
	atOnce(func(worker, i int) {
		if errs[worker] == nil {
			errs[worker] = begin(i)
		}
	}, spec.N)
	defer atOnce(func(_, i int) {
		if sessions[i] != nil {
			sessions[i].close()
		}
	}, spec.N)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("bench: open sessions: %w", err)
	}
	return errors.Join(to.tell("open"), to.await())
}

// atOnce does something n times, several at once.
func atOnce(do func(worker, i int), n int) {
	var running sync.WaitGroup
	for worker := range openers {
		running.Go(func() {
			for i := worker; i < n; i += openers {
				do(worker, i)
			}
		})
	}
	running.Wait()
}

// idlerOf gives what opens a peer's sessions. Turnstile's share one actor system, for thousands of those are too much for
// a process.
func idlerOf(spec childSpec) (open opener, end func()) {
	if spec.Peer == goZkLock {
		return openZkLock, func() {}
	}
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	system := actor.NewActorSystem(actor.WithLoggerFactory(silent))
	opts := []locks.Option{locks.WithSessionTimeout(spec.Timeout), locks.WithActorSystem(system)}
	if spec.Peer == oursNoSyncs {
		opts = append(opts, locks.WithoutIdleSyncs())
	}
	open = func(ctx context.Context, servers string, _ sessionTimeout) (session, error) {
		return openWith(ctx, servers, opts...)
	}
	return open, system.Shutdown
}
