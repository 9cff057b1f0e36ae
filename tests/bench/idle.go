package main

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// spansPerTimeout is the session timeout over -span: 10 s, unless told otherwise.
	spansPerTimeout = 10
	// mostHolders bounds how many sessions hold at once: each commits a transaction every sixth of its timeout.
	mostHolders = 500
)

// idle measures the cost of sessions that do nothing, and of sessions that hold a lock each.
var idle = workload{
	name: "idle", per: "sessions, spread over the servers; session timeout ten times -span", sizes: []int{1000}, quick: []int{5}, named: true,
	// Of a session, and of all servers for 1 000 sessions.
	metrics: []metric{{"packets", "packets/s", neither}, {"cpu", "ms/s/1000", neither}, {"held", "packets/s", neither}, {"held-cpu", "ms/s/1000", neither}},
	peers:   []peer{{goZkLock, idling}, {ours, idling}, {oursNoSyncs, idling}},
}

// idling measures the servers without sessions, with idle ones, and with ones that hold.
func idling(ctx context.Context, t trial) (figures, error) {
	without, err := t.stage.usage(ctx, t.o.span*spansPerTimeout)
	if err != nil {
		return nil, err
	}
	found, holders := figures{}, min(t.n, mostHolders)
	for _, of := range []struct {
		packets, cpu string
		n            int
		hold         bool
	}{{"packets", "cpu", t.n, false}, {"held", "held-cpu", holders, true}} {
		with, err := t.idlers(ctx, of.n, of.hold)
		if err != nil {
			return nil, err
		}
		found[of.packets] = (with.packets - without.packets) / float64(of.n)
		found[of.cpu] = 1000 * (with.processor - without.processor) / float64(of.n)
	}
	return found, nil
}

// usage has the servers' work in a second.
type usage struct {
	packets   float64
	processor float64 // milliseconds
}

// usage watches the servers for a while.
func (s *stage) usage(ctx context.Context, d time.Duration) (usage, error) {
	begin := time.Now()
	var packets [2]int
	var used [2]time.Duration
	for i := range packets {
		var err, err2 error
		packets[i], err = s.packets(ctx)
		used[i], err2 = processorOf(s.pids)
		if err := errors.Join(err, err2, ctx.Err()); err != nil {
			return usage{}, err
		}
		if i == 0 {
			rig.Rest(ctx, d)
		}
	}
	passed := time.Since(begin).Seconds()
	return usage{float64(packets[1]-packets[0]) / passed, millis(used[1]-used[0]) / passed}, nil
}

// idlers measures the servers while a process has n sessions, for two session timeouts.
func (t trial) idlers(ctx context.Context, n int, hold bool) (usage, error) {
	spec := childSpec{Task: taskIdle, Peer: t.peer, Connect: t.stage.all(), Sessions: n, Timeout: t.o.span * spansPerTimeout}
	if hold {
		spec.Path = t.path
		if _, err := t.makeOwn(n); err != nil {
			return usage{}, err
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
	sessions, end, err := spec.open(ctx, newSystem())
	defer end()
	if err != nil {
		return err
	}
	errs := make([]error, spec.Sessions)
	if spec.Path != "" {
		spec.atOnce(func(i int) { _, errs[i] = sessions[i].lock(ctx, own(spec.Path, i)) })
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return errors.Join(to.tell("open"), to.await())
}
