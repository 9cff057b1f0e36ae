package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// stage has what the rounds of one scenario share.
type stage struct {
	o        options
	scenario *scenario
	ensemble *rig.Partitionable // nil where one server is all
	alone    *rig.Server        // the one server, or nil
	system   *actor.ActorSystem // one for all clients, which would cost a few megabytes each
	log      *slog.Logger
	found    *result
	begin    time.Time
	out      io.Writer

	mu     sync.Mutex // guards what follows
	random *rand.Rand
}

// settleTime bounds what is no part of a fault: starting, opening, closing.
const settleTime = time.Minute

// play plays rounds of a scenario until there were enough trials.
func play(ctx context.Context, o options, sc *scenario, out io.Writer) (found *result, err error) {
	log := slog.New(slog.DiscardHandler)
	s := &stage{o: o, scenario: sc, log: log, out: out, begin: time.Now(),
		random: rand.New(rand.NewPCG(o.seed, 0)),
		found:  &result{Scenario: sc.name, Timeout: o.timeout, Tick: o.tick}}
	opts := []rig.Option{rig.WithTickTime(o.tick)}
	stop, err := s.start(append(opts, sc.servers(o)...))
	if err != nil {
		return nil, err
	}
	defer func() {
		if stopped := stop(); err == nil {
			err = stopped
		}
	}()
	s.system = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }),
		actor.WithDeadLetterThrottleInterval(100*time.Millisecond))
	defer s.system.Shutdown()
	for s.found.Trials < o.trials {
		width := min(o.width, o.trials-s.found.Trials)
		if sc.most > 0 {
			width = min(width, sc.most)
		}
		if err := s.round(ctx, width); err != nil {
			return s.found, err
		}
	}
	s.found.Took = time.Since(s.begin)
	s.found.Waited = s.found.waits.shares()
	return s.found, nil
}

// start starts the servers. stop ends them for good.
func (s *stage) start(opts []rig.Option) (stop func() error, err error) {
	if s.scenario.members == 1 {
		s.alone, err = rig.NewStandalone(opts...)
		return s.alone.Stop, err
	}
	s.ensemble, err = rig.NewPartitionable(s.scenario.members, opts...)
	return s.ensemble.Stop, err
}

// servers are all servers, running or not.
func (s *stage) servers() []*rig.Server {
	if s.alone != nil {
		return []*rig.Server{s.alone}
	}
	return s.ensemble.Members()
}

// leading is the server that ends sessions now.
func (s *stage) leading(ctx context.Context) (*rig.Server, error) {
	if s.alone != nil {
		return s.alone, nil
	}
	return s.ensemble.Leader(ctx)
}

// round plays one round and counts what it shows.
func (s *stage) round(ctx context.Context, width int) error {
	r, err := s.enter(ctx, width)
	if err == nil {
		err = s.scenario.play(r)
	}
	var alive map[int64]bool
	if err == nil {
		alive, err = r.survivors()
	}
	played := time.Now()
	if err = r.leave(err); err != nil {
		return err
	}
	s.found.Rounds++
	s.found.Failed += int(r.failed.Load())
	s.found.Never += int(r.never.Load())
	s.found.Relisted += r.relisted.Load()
	for _, t := range r.trials {
		if t.wait != nil && !t.wait.granted.IsZero() {
			s.found.waits = append(s.found.waits, t.wait.length())
		}
		for _, o := range s.found.add(&t.ledger, alive, s.timeouts(s.scenario.overlapping)) {
			if s.o.verbose {
				s.say("overlap of %v at %s: %v with token %d and %v with token %d, %v after it", o.length, t.path,
					o.first.side, o.first.token, o.second.side, o.second.token, o.second.from.Sub(o.first.from))
			}
		}
	}
	if s.o.verbose {
		f := s.found
		s.say("%d trials, %d granted, %d to others, %d overlaps, %d lost; leaving took %v", f.Trials, f.Granted, f.Others,
			f.Overlaps, f.Lost, time.Since(played).Round(time.Millisecond))
	}
	return nil
}

func (s *stage) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%7.1fs %-16s %s\n", time.Since(s.begin).Seconds(), s.scenario.name, fmt.Sprintf(format, args...))
}

// timeouts is a number of session timeouts.
func (s *stage) timeouts(n float64) time.Duration { return time.Duration(n * float64(s.o.timeout)) }

// between draws a duration, in session timeouts.
func (s *stage) between(from, to float64) time.Duration {
	return s.timeouts(from + (to-from)*s.fraction())
}

// fraction draws a number from 0 to 1.
func (s *stage) fraction() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Float64()
}

// pick draws a number below n.
func (s *stage) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func ticks(o options, d time.Duration) string { return strconv.Itoa(max(2, int(d/o.tick))) }
