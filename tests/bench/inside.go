package main

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/turnstile-locks/turnstile/locks"
)

// inside is workers of one process on a lock that its client shares among them, beside a channel with contexts: the price of
// a lock that other processes can have, while they do not want it. One worker has a lock that sticks; several have a cohort.
// The environment variable TURNSTILE_BENCH_WITH adds figures, tracing or max-hold, to see what each costs.
var inside = workload{
	name: "inside", per: "workers on one lock that their client shares", sizes: []int{1, 128, 1024}, quick: []int{1, 3},
	metrics: append([]metric{
		{"inside", "cycles/s", more, "Workers of one process on a lock that their client shares"},
		{"inside-p50", "µs", less, "Lock and Unlock where the client has the lock already, median"},
		{"inside-allocs", "allocations/cycle", less, "Allocations of such a cycle"},
	}, processorMetrics("inside", "cycle", "Workers of one process on a lock that their client shares")...),
	floor: inChannel, alike: true,
	bare:    func(ctx context.Context, t trial) (figures, error) { return t.sharing(ctx, openChannel) },
	library: func(ctx context.Context, t trial, open opener) (figures, error) { return t.sharing(ctx, open) },
	ours: func(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
		opts := []locks.Option{locks.WithSessionTimeout(timeout)}
		switch insideWith {
		case "figures":
			opts = append(opts, locks.WithMeterProvider(sdk.NewMeterProvider(sdk.WithReader(sdk.NewManualReader()))))
		case "tracing":
			opts = append(opts, locks.WithTracerProvider(trace.NewTracerProvider()))
		}
		client, err := locks.Open(ctx, servers, opts...)
		if err != nil {
			return nil, err
		}
		return &sharedSession{turnstileSession: &turnstileSession{client: client}}, nil
	},
}

var insideWith = os.Getenv("TURNSTILE_BENCH_WITH")

// manyGrants is the number of grants in a row where a client shares a lock among its workers.
const manyGrants = 1000

// sharedSession has one lock, made once: with a cohort where several workers have it.
type sharedSession struct {
	*turnstileSession
	once  sync.Once
	mutex *locks.Mutex
	alone bool
}

func (s *sharedSession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	s.once.Do(func() {
		how := locks.WithCohort(manyGrants)
		if s.alone {
			how = locks.WithSticky(time.Second)
		}
		opts := []locks.LockOption{how}
		if insideWith == "max-hold" {
			opts = append(opts, locks.WithMaxHold(time.Minute))
		}
		s.mutex = s.client.Mutex(path, opts...)
	})
	lease, err := s.mutex.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return lease.Unlock, nil
}

// channelSession is a lock of this process alone: a channel, and a context for each hold.
type channelSession chan struct{}

func openChannel(context.Context, string, sessionTimeout) (session, error) {
	return make(channelSession, 1), nil
}

func (s channelSession) lock(ctx context.Context, _ string) (func(context.Context) error, error) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	_, end := context.WithCancelCause(ctx)
	return func(context.Context) error {
		end(nil)
		<-s
		return nil
	}, nil
}

func (channelSession) close() {}

// sharing has the workers of one session share a lock.
func (t trial) sharing(ctx context.Context, open opener) (figures, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var one *timedSession
	got, err := t.together(ctx, func(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
		s, err := open(ctx, servers, timeout)
		if shared, ok := s.(*sharedSession); ok {
			shared.alone = t.n == 1
		}
		if t.n == 1 && err == nil {
			one = &timedSession{session: s}
			s = one
		}
		return s, err
	}, newGuard())
	if err != nil {
		return nil, err
	}
	runtime.ReadMemStats(&after)
	found := figures{"inside": float64(got.counted) / got.elapsed.Seconds(),
		"inside-allocs": float64(after.Mallocs-before.Mallocs) / float64(got.all)}
	if one != nil {
		found["inside-p50"] = micros(percentile(one.took, 50))
	}
	got.spent.put(found, "inside")
	return found, nil
}

// timedSession times one cycle in some of its one worker.
type timedSession struct {
	session
	cycles int
	took   []time.Duration
}

func (s *timedSession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	if s.cycles++; s.cycles%64 != 0 {
		return s.session.lock(ctx, path)
	}
	at := time.Now()
	unlock, err := s.session.lock(ctx, path)
	took := time.Since(at)
	return func(ctx context.Context) error {
		at := time.Now()
		err := unlock(ctx)
		s.took = append(s.took, took+time.Since(at))
		return err
	}, err
}
