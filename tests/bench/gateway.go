package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Of a gateway.
const (
	// gatewayNodes is on how many nodes the requesters are: each is a process with an actor system and a remote.
	gatewayNodes = 10
	// gatewayPaths is the number of lock paths where the workload has many.
	gatewayPaths = 1000
	// mostSessions bounds the sessions that are opened in the place of requesters.
	mostSessions = 1000
)

// gatewayUse is requesters without a session on ten nodes, over one gateway; and for comparison workers on as many
// nodes that have a session each.
var gatewayUse = workload{
	name: "gateway", per: "requesters on ten nodes, one gateway", sizes: []int{10_000}, quick: []int{20}, named: true,
	metrics: append(gatewayMetrics("gateway", "one lock"), gatewayMetrics("gateway-many", "1 000 locks")...),
	others: []peer{{oursByGateway, byGateway(0)}, {oursByGatewayInCohorts, byGateway(cohortGrants)},
		{oursSessions, bySessions}},
}

// gatewayMetrics gives the metrics of one form.
func gatewayMetrics(name, locks string) []metric {
	return []metric{
		{name, "grants/s", more, "Requesters on " + locks},
		{name + "-packets", "packets/grant", neither, "Packets from clients to the servers, requesters on " + locks},
		{name + "-memory", "B/requester", neither, "Heap and stacks of the processes with sessions, requesters on " + locks},
		{name + "-requesters", "requesters", neither, "Requesters that took part, on " + locks},
	}
}

// byGateway measures requesters over a gateway, in cohorts of so many grants.
func byGateway(cohort int) func(context.Context, trial) (figures, error) {
	return func(ctx context.Context, t trial) (figures, error) {
		return t.forms(ctx, func(u *usersOf) error { return u.overGateway(ctx, cohort) })
	}
}

// bySessions measures workers that have a session each.
func bySessions(ctx context.Context, t trial) (figures, error) {
	t.n = min(t.n, mostSessions)
	return t.forms(ctx, func(u *usersOf) error { return u.withSessions(ctx) })
}

// forms measures both, one after the other: one lock, and many.
func (t trial) forms(ctx context.Context, run func(*usersOf) error) (figures, error) {
	found := figures{}
	for _, form := range []struct {
		name  string
		paths int
	}{{"gateway", 1}, {"gateway-many", max(2, min(gatewayPaths, t.n/10))}} {
		of := t
		of.path += "/" + form.name
		if err := of.form(ctx, form.name, form.paths, found, run); err != nil {
			return nil, fmt.Errorf("%s: %w", form.name, err)
		}
	}
	return found, nil
}

// form measures one form, and adds its figures to the others.
func (t trial) form(ctx context.Context, name string, paths int, found figures, run func(*usersOf) error) error {
	folder, err := os.MkdirTemp("", "turnstile-bench-")
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for path := range paths {
		if err := t.stage.monitor.makePath(t.own(path)); err != nil {
			return err
		}
	}
	u := &usersOf{trial: t, paths: paths, file: filepath.Join(folder, "board")}
	if u.board, err = openBoard(u.file, paths); err != nil {
		return err
	}
	defer func() { _ = u.board.close() }()
	defer u.kill()
	if err := run(u); err != nil {
		return err
	}
	return u.figures(ctx, name, found)
}

// usersOf are the processes of one measurement.
type usersOf struct {
	trial
	paths  int
	file   string
	board  *board
	nodes  []*offspring // with requesters
	owners []*offspring // with sessions
	before occupied     // of the owners, when nobody had asked for anything
}

func (u *usersOf) kill() {
	for _, c := range append(u.nodes, u.owners...) {
		_ = c.kill()
	}
}

// overGateway starts a gateway, and nodes whose requesters use it.
func (u *usersOf) overGateway(ctx context.Context, cohort int) error {
	gate, err := startChild(childSpec{Task: taskGateway, Connect: u.stage.connect(0), Timeout: timeout})
	if err != nil {
		return err
	}
	u.owners = append(u.owners, gate)
	var address string
	if err := errors.Join(gate.expect(ctx, &address), gate.expect(ctx, &u.before)); err != nil {
		return err
	}
	return u.start(childSpec{Task: taskAsk, Gateway: address, Cohort: cohort}, &u.nodes)
}

// withSessions starts nodes whose workers have a session each.
func (u *usersOf) withSessions(ctx context.Context) error {
	if err := u.start(childSpec{Task: taskSessions, Connect: u.stage.all(), Timeout: timeout}, &u.owners); err != nil {
		return err
	}
	for _, c := range u.owners {
		var before occupied
		if err := c.expect(ctx, &before); err != nil {
			return err
		}
		u.before = u.before.plus(before)
	}
	return nil
}

// start starts the nodes, each with its share of the requesters.
func (u *usersOf) start(spec childSpec, into *[]*offspring) error {
	spec.Path, spec.Paths, spec.Guard = u.path, u.paths, u.file
	nodes := min(gatewayNodes, u.n)
	for spec.Process = range nodes {
		spec.N = u.n / nodes
		if spec.Process < u.n%nodes {
			spec.N++
		}
		c, err := startChild(spec)
		if err != nil {
			return err
		}
		*into = append(*into, c)
	}
	return nil
}

// figures waits until each has held once, and then looks at what happens in a while.
func (u *usersOf) figures(ctx context.Context, name string, found figures) error {
	for u.board.load(boardArrived) < int64(u.n) {
		if err := u.well(ctx); err != nil {
			return fmt.Errorf("%d of %d have held: %w", u.board.load(boardArrived), u.n, err)
		}
	}
	rig.Rest(ctx, u.o.warm)
	packets, err := u.stage.packets(ctx)
	if err != nil {
		return err
	}
	grants, begun := u.board.load(boardGrants), time.Now()
	for rig.Rest(ctx, u.o.span); u.board.load(boardGrants) == grants; {
		if err := u.well(ctx); err != nil {
			return err
		}
	}
	counted, elapsed := float64(u.board.load(boardGrants)-grants), time.Since(begun).Seconds()
	after, err := u.stage.packets(ctx)
	if err != nil {
		return err
	}
	then, err := u.occupation(ctx)
	if err != nil {
		return err
	}
	found[name], found[name+"-packets"] = counted/elapsed, float64(after-packets)/counted
	found[name+"-memory"] = float64(then.Heap+then.Stack-u.before.Heap-u.before.Stack) / float64(u.n)
	found[name+"-requesters"] = float64(u.n)
	return errors.Join(u.finish(ctx), u.well(ctx))
}

// well waits a moment, and reports whether all is well.
func (u *usersOf) well(ctx context.Context) error {
	if u.board.load(boardBroken) != 0 {
		return errTwoHolders
	}
	for _, c := range append(u.nodes, u.owners...) {
		select {
		case <-c.Exited():
			if c.Err() != nil || u.board.load(boardStop) == 0 {
				return c.expect(ctx, nil)
			}
		default:
		}
	}
	rig.Rest(ctx, pollEvery)
	return context.Cause(ctx)
}

// occupation asks the processes with sessions.
func (u *usersOf) occupation(ctx context.Context) (sum occupied, err error) {
	for _, c := range u.owners {
		var one occupied
		if err := errors.Join(c.goOn(), c.expect(ctx, &one)); err != nil {
			return sum, err
		}
		sum = sum.plus(one)
	}
	return sum, nil
}

// plus adds what several processes take up.
func (o occupied) plus(other occupied) occupied {
	return occupied{o.Heap + other.Heap, o.Stack + other.Stack, o.Goroutines + other.Goroutines}
}

// finish has all processes end, the requesters first.
func (u *usersOf) finish(ctx context.Context) error {
	u.board.store(boardStop, 1)
	for _, c := range u.nodes {
		if err := c.end(ctx); err != nil {
			return err
		}
	}
	for _, c := range u.owners {
		if err := errors.Join(c.goOn(), c.end(ctx)); err != nil {
			return err
		}
	}
	return nil
}
