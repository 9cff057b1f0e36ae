package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// suite is the tests of one peer.
type suite struct {
	name string
	// run runs all tests, or only those named, and may be called again in the same round.
	run        func(ctx context.Context, r *round, only []string) (outcomes, error)
	exceptions []exception
}

var suites = []suite{
	{"kazoo", runKazoo, kazooExceptions},
	{"go-zookeeper", runGoZooKeeper, goZooKeeperExceptions},
	{"curator", runCurator, curatorExceptions},
	{"zookeeper", runZooKeeper, zooKeeperExceptions},
}

func suiteNames() (names []string) {
	for _, s := range suites {
		names = append(names, s.name)
	}
	return names
}

// both runs the suite on real servers, then on embedded ones.
func (s suite) both(ctx context.Context, o options, said io.Writer) (real, embedded outcomes, err error) {
	if real, err = s.on(ctx, onReal, nil, o, said); err != nil {
		return nil, nil, err
	}
	embedded, err = s.on(ctx, onEmbedded, s.exceptions, o, said)
	return real, embedded, err
}

// on runs the suite on servers of one kind, and again what has failed where no row says that it does.
func (s suite) on(ctx context.Context, kind kind, rows []exception, o options, said io.Writer) (all outcomes, err error) {
	r, err := newRound(kind, filepath.Join(o.folder, s.name+"-"+string(kind)), func(err error) {
		fmt.Fprintf(said, "peersuites: %s: embedded server: %v\n", s.name, err)
	})
	if err != nil {
		return nil, err
	}
	defer r.close()
	begun := time.Now()
	if all, err = s.run(ctx, r, nil); err != nil {
		return nil, fmt.Errorf("on %s servers: %w", kind, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("on %s servers: %w; see %s", kind, errNothingRan, r.folder)
	}
	fmt.Fprintf(said, "%s on %s servers: %d of %d passed in %v\n",
		s.name, kind, all.count(passed), len(all), time.Since(begun).Round(time.Second))
	for try := 2; try <= o.tries; try++ {
		only := suspects(all, rows)
		if len(only) == 0 {
			break
		}
		fmt.Fprintf(said, "  run again: %q\n", only)
		second, err := s.run(ctx, r, only)
		if err != nil {
			return nil, fmt.Errorf("on %s servers, again: %w", kind, err)
		}
		all.again(second)
	}
	return all, nil
}

var errNothingRan = errors.New("no test ran")
