package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// members is the size of the ensemble.
const members = 3

// stage is the servers that are measured on.
type stage struct {
	about   string
	addrs   []rig.Address // the first is a follower, where there is one
	monitor *connection   // what the bench itself asks
	stop    func() error
}

// raise starts the servers.
func raise(ctx context.Context, ensemble bool) (*stage, error) {
	place, opts := "data in memory", []rig.Option{rig.LongRunning()}
	if folder := rig.MemoryFolder(); folder != "" {
		opts = append(opts, rig.WithFolder(folder))
	} else {
		place = "data ON DISK in " + os.TempDir() + ", for no folder in memory was found: these figures do not compare with others"
	}
	if !ensemble {
		server, err := rig.NewStandalone(opts...)
		if err != nil {
			return nil, err
		}
		return onStage(ctx, "one server, "+place, []rig.Address{server.Address()}, server.Stop)
	}
	e, err := rig.NewEnsemble(members, opts...)
	if err != nil {
		return nil, err
	}
	leader, err := e.Leader(ctx)
	if err != nil {
		_ = e.Stop()
		return nil, err
	}
	var addrs []rig.Address
	for _, member := range e.Members() {
		if member != leader {
			addrs = append(addrs, member.Address())
		}
	}
	return onStage(ctx, fmt.Sprintf("an ensemble of %d, %s", members, place), append(addrs, leader.Address()), e.Stop)
}

// onStage is a stage of servers that run.
func onStage(ctx context.Context, about string, addrs []rig.Address, stop func() error) (*stage, error) {
	s := &stage{about: about, addrs: addrs, stop: stop}
	var err error
	if s.monitor, err = connect(ctx, s.connect(0), time.Minute); err != nil {
		_ = stop()
		return nil, err
	}
	return s, nil
}

// strike ends what raise has started.
func (s *stage) strike() error {
	s.monitor.close()
	return s.stop()
}

// connect is the one server that a session connects to, so that it is the same for all peers.
func (s *stage) connect(session int) string { return s.addrs[session%len(s.addrs)].Addr() }

// connects are those of several sessions.
func (s *stage) connects(sessions int) []string {
	all := make([]string, sessions)
	for i := range all {
		all[i] = s.connect(i)
	}
	return all
}

// all is the connect string for peers that open several sessions with one.
func (s *stage) all() string { return strings.Join(s.connects(len(s.addrs)), ",") }

// packets is how many packets all servers have received from clients.
func (s *stage) packets(ctx context.Context) (int, error) { return s.sum(ctx, "zk_packets_received") }

// sum adds a metric of all servers.
func (s *stage) sum(ctx context.Context, name string) (int, error) {
	sum := 0
	for _, addr := range s.addrs {
		metrics, err := addr.Mntr(ctx)
		if err != nil {
			return 0, err
		}
		value, err := strconv.Atoi(metrics[name])
		if err != nil {
			return 0, fmt.Errorf("bench: %s of %s: %w", name, addr, err)
		}
		sum += value
	}
	return sum, nil
}

// pollEvery is how often the bench looks at a server while it waits.
const pollEvery = 2 * time.Millisecond

// awaitChildren waits until a node has so many children, and gives the number of requests that it took.
func (s *stage) awaitChildren(ctx context.Context, path string, n int) (asked int, err error) {
	for {
		_, stat, err := s.monitor.Exists(path)
		asked++
		if err != nil {
			return asked, fmt.Errorf("bench: look at %s: %w", path, err)
		}
		if stat != nil && int(stat.NumChildren) >= n {
			return asked, nil
		}
		wait(ctx, pollEvery)
		if ctx.Err() != nil {
			return asked, fmt.Errorf("bench: %d of %d queue in %s: %w", stat.NumChildren, n, path, ctx.Err())
		}
	}
}

// warmUp has the servers' JVMs compile what runs often.
func (s *stage) warmUp(ctx context.Context, d time.Duration) error {
	const path, workers = "/bench/warm-up", 16
	if err := s.monitor.makePath(path); err != nil {
		return err
	}
	for i := range s.addrs {
		sessions, err := openAll(ctx, openBare, []string{s.connect(i)}, time.Minute)
		if err != nil {
			return err
		}
		_, err = crowd{sessions: sessions, workers: workers, path: onePath(path), guard: oneGuard(nil), timed: warmThenCount(0, d)}.run(ctx)
		closeAll(sessions)
		if err != nil {
			return err
		}
	}
	return nil
}
