package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// outages measures outages of each length, for both kinds of clients, each with a fleet of its own.
func outages(ctx context.Context, o options, p printer) error {
	server, err := rig.NewStandalone(rig.WithTickTime(o.tick))
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	p.line("\n%-7s  %-6s  %5s  %5s  %7s  %6s  %7s  %8s  %6s  %8s  %7s  %8s  %6s  %s", "clients", "outage", "ended", "known", "refused",
		"closed", "dials", "connects", "begun", "requests", "back", "locked", "usual", "kinds")
	for _, kind := range o.kinds {
		for _, length := range o.lengths {
			if err := outage(ctx, o, server, kind, length, p); err != nil {
				return fmt.Errorf("cost: %s, outage of %.2f T: %w", kind, length, err)
			}
		}
	}
	return nil
}

// backWithin bounds how long clients may take to come back, in session timeouts.
const backWithin = 20

// outage has one outage.
func outage(ctx context.Context, o options, server *rig.Server, kind string, length float64, p printer) (err error) {
	f, err := openFleet(ctx, o.clients, []string{server.Addr()}, o.timeout, 0, true)
	defer func() { err = errors.Join(err, f.close(ctx)) }()
	if err != nil {
		return err
	}
	if kind == holders {
		f.hold(ctx)
		if n := f.until(ctx, openTimeout, func(m *member) bool { return m.holds(time.Time{}, time.Time{}) }); n > 0 {
			return fmt.Errorf("%d hold nothing", n)
		}
	}
	rig.Rest(ctx, 2*o.timeout)
	before := f.counts.look()
	rig.Rest(ctx, o.timeout)
	usual := f.counts.since(before)

	before = f.counts.look()
	ids, deadlines := f.sessions(), map[*member]time.Time{}
	for _, m := range f.members {
		deadlines[m] = m.deadline()
	}
	f.down()
	rig.Rest(ctx, time.Duration(length*float64(o.timeout)))
	known, err := knownSessions(ctx, server)
	if err != nil {
		return err
	}
	over := time.Now()
	if err := f.up(); err != nil {
		return err
	}
	so := connected
	if kind == holders {
		so = func(m *member) bool { return m.holds(over, deadlines[m]) }
	}
	missing := f.until(ctx, backWithin*o.timeout, so)
	back, found := time.Since(over), f.counts.since(before)
	locked := time.Duration(0)
	extra := ""
	if kind == idle {
		at, between := time.Now(), f.counts.look()
		if err := f.lockOnce(ctx); err != nil {
			return err
		}
		locked = time.Since(at)
		then := f.counts.since(between)
		extra = fmt.Sprintf(" | locks: begun %d, requests %d (%s)", then.begun, then.frames(), then.kinds())
	}
	ended, stillKnown := 0, 0
	for i, id := range f.sessions() {
		if id == ids[i] {
			continue
		}
		ended++
		if slices.Contains(known, ids[i]) {
			stillKnown++
		}
	}
	all := f.counts.since(before)
	if missing > 0 {
		extra += fmt.Sprintf(" | %d are not back", missing)
	}
	p.line("%-7s  %.2f T  %5d  %5d  %7d  %6d  %7d  %8d  %6d  %8d  %5.2f s  %6.2f s  %6.0f  %s%s", kind, length, ended, stillKnown, all.refused,
		all.requests[rig.OpCloseSession], found.dials, found.connects, found.begun, found.frames(), back.Seconds(), locked.Seconds(),
		float64(usual.frames())/o.timeout.Seconds(), found.kinds(), extra)
	return ctx.Err()
}

// knownSessions asks a server which sessions it has not ended.
func knownSessions(ctx context.Context, server *rig.Server) (ids []int64, err error) {
	answer, err := server.Address().FourLetter(ctx, "dump")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "ephemeral nodes dump") {
			break
		}
		if hex, ok := strings.CutPrefix(line, "0x"); ok {
			id, err := strconv.ParseUint(hex, 16, 64)
			if err != nil {
				return nil, fmt.Errorf("cost: a session in the answer to dump: %w", err)
			}
			ids = append(ids, int64(id))
		}
	}
	return ids, nil
}
