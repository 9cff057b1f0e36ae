package main

import (
	"context"
	"os"
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
	metrics: append([]metric{{"rate", "cycles/s", more}, {"allocs", "allocations/cycle", less}}, processorMetrics("cycle")...),
	peers: []peer{together.in(inChannel, openChannel), {ours, func(ctx context.Context, t trial) (figures, error) {
		how, opts := []locks.LockOption{locks.WithCohort(manyGrants)}, []locks.Option(nil)
		if t.n == 1 {
			how[0] = locks.WithSticky(time.Second)
		}
		switch os.Getenv("TURNSTILE_BENCH_WITH") {
		case "figures":
			opts = append(opts, locks.WithMeterProvider(sdk.NewMeterProvider(sdk.WithReader(sdk.NewManualReader()))))
		case "tracing":
			opts = append(opts, locks.WithTracerProvider(trace.NewTracerProvider()))
		case "max-hold":
			how = append(how, locks.WithMaxHold(time.Minute))
		}
		return together.in(ours, func(ctx context.Context, servers string, timeout time.Duration) (session, error) {
			s, err := openTurnstileWith(opts, how...)(ctx, servers, timeout)
			if err != nil {
				return nil, err
			}
			return &sharedSession{turnstileSession: s.(*turnstileSession)}, nil
		}).measure(ctx, t)
	}}},
}

// sharedSession has one lock, made once.
type sharedSession struct {
	*turnstileSession
	once  sync.Once
	mutex *locks.Mutex
}

func (s *sharedSession) lock(ctx context.Context, path string) (func(context.Context) error, error) {
	s.once.Do(func() { s.mutex = s.client.Mutex(path, s.how...) })
	lease, err := s.mutex.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return lease.Unlock, nil
}

// channelSession is a lock of this process alone: a channel, and a context for each hold.
type channelSession chan struct{}

func openChannel(context.Context, string, time.Duration) (session, error) {
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
