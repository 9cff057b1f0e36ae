package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// slowServers measures round trips of each length.
func slowServers(ctx context.Context, o options, p printer) error {
	server, err := rig.NewStandalone(rig.WithTickTime(o.tick))
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	count := max(1, o.clients/o.each)
	p.line("\n%d clients contend for %d locks, T = %v; a minute of:", o.clients, count, o.timeout)
	p.line("%-10s  %6s  %7s  %6s  %8s  %8s  %s", "round trip", "grants", "begun", "lost", "connects", "requests", "kinds")
	for _, trip := range o.trips {
		if err := slowServer(ctx, o, server, count, trip, p); err != nil {
			return fmt.Errorf("cost: round trips of %.3f T: %w", trip, err)
		}
	}
	return nil
}

// noSession is the round trip, in session timeouts, from which on a client may get no session: the handshake may take no
// longer.
const noSession = 1.0 / 3

// slowServer measures one.
func slowServer(ctx context.Context, o options, server *rig.Server, count int, trip float64, p printer) (err error) {
	delay := time.Duration(trip * float64(o.timeout) / 2)
	f, err := openFleet(ctx, o.clients, []string{server.Addr()}, o.timeout, delay, true)
	defer func() { err = errors.Join(err, f.close(ctx)) }()
	switch {
	case errors.Is(err, errNotOpened) && trip >= noSession && ctx.Err() == nil: // a row of the table
		p.line("%.3f T     %v", trip, err)
		return nil
	case err != nil:
		return err
	}
	working, stop := context.WithCancel(ctx)
	f.stop = stop
	var grants, lost atomic.Int64
	for _, m := range f.members {
		f.doing.Go(func() {
			mutex := m.client.Mutex(fmt.Sprintf("/cost/slow-%d", m.number%count))
			for working.Err() == nil {
				lease, err := mutex.Lock(working)
				if err != nil {
					rig.Rest(working, pollEvery)
					continue
				}
				grants.Add(1)
				if lease.Context().Err() != nil || lease.Unlock(working) != nil {
					lost.Add(1)
				}
			}
		})
	}
	rig.Rest(ctx, 3*o.timeout) // all have asked, and what a first connection brings is over
	before, g, l := f.counts.look(), grants.Load(), lost.Load()
	rig.Rest(ctx, o.measure)
	found := f.counts.since(before)
	minute := func(n int64) float64 { return float64(n) / o.measure.Minutes() }
	p.line("%.3f T     %6.0f  %7.0f  %6.0f  %8.0f  %8.0f  %s", trip, minute(grants.Load()-g), minute(int64(found.begun)), minute(lost.Load()-l),
		minute(int64(found.connects)), minute(int64(found.frames())), found.kinds())
	return ctx.Err()
}
