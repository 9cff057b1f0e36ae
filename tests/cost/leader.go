package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// changeOfLeader kills the leader of three servers while all clients are idle.
func changeOfLeader(ctx context.Context, o options, p printer) (err error) {
	e, err := rig.NewEnsemble(3, rig.WithTickTime(o.tick))
	if err != nil {
		return err
	}
	defer func() { _ = e.Stop() }()
	var addrs []string
	for _, server := range e.Members() {
		addrs = append(addrs, server.Addr())
	}
	f, err := openFleet(ctx, o.clients, addrs, o.timeout, 0, true)
	defer func() { err = errors.Join(err, f.close(ctx)) }()
	if err != nil {
		return err
	}
	rig.Rest(ctx, 2*o.timeout)
	leader, err := e.Leader(ctx)
	if err != nil {
		return err
	}
	before := f.counts.look()
	rig.Rest(ctx, o.timeout)
	usual := f.counts.since(before)
	before, ids := f.counts.look(), f.sessions()
	at := time.Now()
	if err := leader.Kill(); err != nil {
		return err
	}
	missing, quiet, found := f.untilQuiet(ctx, before, at)
	between, began := f.counts.look(), time.Now()
	if err := f.lockOnce(ctx); err != nil {
		return err
	}
	locked, then := time.Since(began), f.counts.since(between)
	ended := 0
	for i, id := range f.sessions() {
		if id != ids[i] {
			ended++
		}
	}
	p.line("\nchange of leader, %d idle clients, T = %v: %d sessions ended; until quiet after %.2f s (%d not connected): %d dials, %d connects, "+
		"%d renewed, %d refused, %d begun, %d requests (%s); usual: %.0f a second", o.clients, o.timeout, ended, quiet.Seconds(), missing, found.dials,
		found.connects, found.renewed, found.refused, found.begun, found.frames(), found.kinds(), float64(usual.frames())/o.timeout.Seconds())
	p.line("  then a lock each, in %.2f s: %d sessions begun, %d requests (%s)", locked.Seconds(), then.begun, then.frames(), then.kinds())
	return ctx.Err()
}

// untilQuiet waits until all members have been connected for T without anybody's dialing. It gives when that began, and
// what had passed by then.
func (f *fleet) untilQuiet(ctx context.Context, before passed, at time.Time) (missing int, quiet time.Duration, found passed) {
	newest, limit := time.Now(), time.Now().Add(backWithin*f.timeout)
	found = f.counts.since(before)
	for time.Since(newest) < f.timeout && time.Now().Before(limit) && rig.Rest(ctx, pollEvery) {
		now := f.counts.since(before)
		away := slices.ContainsFunc(f.members, func(m *member) bool { return !connected(m) })
		if away || now.dials != found.dials {
			newest, found = time.Now(), now
		}
	}
	for _, m := range f.members {
		if !connected(m) {
			missing++
		}
	}
	return missing, newest.Sub(at), found
}
