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

// memory is a folder whose files are in memory, on Linux.
const memory = "/dev/shm"

// serverFlags are for the JVM of a server. The rig's own are for servers that start quickly; these overrule them with
// the heap and the compilers of one that runs for long.
const serverFlags = "-Xms512m -Xmx2g -XX:TieredStopAtLevel=4"

// members is the size of the ensemble.
const members = 3

// stage is the servers that are measured on.
type stage struct {
	about   string
	addrs   []rig.Address // the first is a follower, where there is one
	pids    []int         // of the servers' processes
	monitor *connection   // what the bench itself asks
	stop    func() error
}

// raise starts the servers.
func raise(ctx context.Context, ensemble bool) (*stage, error) {
	place := "data on disk, in " + os.TempDir() + ": there is no " + memory
	if info, err := os.Stat(memory); err == nil && info.IsDir() {
		defer setenv("TMPDIR", memory)()
		place = "data in memory"
	}
	defer setenv("_JAVA_OPTIONS", serverFlags)()
	// The size in which logs grow is ZooKeeper's own, in KiB; the rig's is for small folders.
	growing := rig.WithConfig("preAllocSize", "65536")
	if !ensemble {
		server, err := rig.NewStandalone(growing)
		if err != nil {
			return nil, err
		}
		return onStage(ctx, "one server, "+place, []rig.Address{server.Address()}, server.Stop, server.PID())
	}
	e, err := rig.NewEnsemble(members, growing)
	if err != nil {
		return nil, err
	}
	leader, err := e.Leader(ctx)
	if err != nil {
		_ = e.Stop()
		return nil, err
	}
	var addrs []rig.Address
	var pids []int
	for _, member := range e.Members() {
		pids = append(pids, member.PID())
		if member != leader {
			addrs = append(addrs, member.Address())
		}
	}
	return onStage(ctx, fmt.Sprintf("an ensemble of %d, %s", members, place), append(addrs, leader.Address()), e.Stop, pids...)
}

// onStage is a stage of servers that run, in processes of those numbers.
func onStage(ctx context.Context, about string, addrs []rig.Address, stop func() error, pids ...int) (*stage, error) {
	s := &stage{about: about, addrs: addrs, pids: pids, stop: stop}
	var err error
	if s.monitor, err = connect(ctx, s.connect(0), time.Minute); err != nil {
		_ = stop()
		return nil, err
	}
	return s, nil
}

// setenv sets a variable of this process, and gives what sets it back.
func setenv(name, value string) (back func()) {
	before := os.Getenv(name)
	_ = os.Setenv(name, value)
	return func() { _ = os.Setenv(name, before) }
}

// strike ends what raise has started.
func (s *stage) strike() error {
	s.monitor.close()
	return s.stop()
}

// connect is the one server that a session connects to, so that it is the same for all peers.
func (s *stage) connect(session int) string { return s.addrs[session%len(s.addrs)].Addr() }

// connects gives the connect strings of several sessions.
func (s *stage) connects(sessions int) []string {
	all := make([]string, sessions)
	for i := range all {
		all[i] = s.connect(i)
	}
	return all
}

// all is the connect string for peers that open several sessions with one.
func (s *stage) all() string { return strings.Join(s.connects(len(s.addrs)), ",") }

// packets is the number of packets that all servers have received from clients.
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

// pollEvery is the pause between two looks at a server while the bench waits.
const pollEvery = 2 * time.Millisecond

// await polls until something is so.
func await(ctx context.Context, every time.Duration, so func() (bool, error)) error {
	for {
		if is, err := so(); is || err != nil {
			return err
		}
		rig.Rest(ctx, every)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// warmUp has the servers' virtual machines compile what runs often: each kind of peer's requests, each for a while, and
// transactions as large as a crowd makes them.
func (s *stage) warmUp(ctx context.Context, d time.Duration) error {
	const path, workers = "/bench/warm-up", 64
	if err := s.monitor.makePath(path); err != nil {
		return err
	}
	for i := range s.addrs {
		for _, open := range []opener{openBare, openZkLock, openTurnstile} {
			sessions, err := openAll(ctx, open, []string{s.connect(i)}, time.Minute)
			if err != nil {
				return err
			}
			_, err = crowd{sessions: sessions, workers: workers, paths: []string{path}, while: warmThenCount(0, d)}.run(ctx)
			closeAll(sessions)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
