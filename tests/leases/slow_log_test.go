package leases

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// slowLog is a log handler that takes a while for each record, once it is slow.
type slowLog struct {
	slog.Handler
	takes func()
	slow  atomic.Bool
}

func (*slowLog) Enabled(context.Context, slog.Level) bool { return true }
func (h *slowLog) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h *slowLog) Handle(context.Context, slog.Record) error {
	if h.slow.Load() {
		h.takes()
	}
	return nil
}

// TestRealContextsEndBeforeOthersHold: a client that holds many locks is cut off, with a log that is stuck or slow. When
// another client holds a lock, the context of the lease before it has ended. TURNSTILE_LEASES sets how many locks.
func TestRealContextsEndBeforeOthersHold(t *testing.T) {
	const timeout = 4 * time.Second
	leases := 300
	if n, err := strconv.Atoi(os.Getenv("TURNSTILE_LEASES")); err == nil {
		leases = n
	}
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	server := rig.StartStandalone(t)
	for name, takes := range map[string]func(){
		"stuck": func() { <-never },
		"5 ms":  func() { time.Sleep(5 * time.Millisecond) },
		"20 ms": func() { time.Sleep(20 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			proxy := rig.NewProxy(t, server.Addr())
			log := &slowLog{takes: takes}
			ctx := patient.Deadline(t)
			cut, err := locks.Open(ctx, proxy.Addr(), locks.WithSessionTimeout(timeout), locks.WithLogger(slog.New(log)))
			require.NoError(t, err)
			relists.Count(t, cut.Session())
			others := patient.Open(t, server.Addr())
			held := make([]*locks.Lease, leases)
			got := make([]<-chan patient.Answer, leases)
			path := func(i int) string { return "/" + name + "/" + strconv.Itoa(i) }
			for i := range held {
				got[i] = patient.Elsewhere(ctx, cut.Mutex(path(i)).Lock)
			}
			for i := range held {
				a := patient.Receive(t, got[i])
				require.NoError(t, a.Err)
				held[i] = a.Lease
			}
			late := make(chan time.Duration, leases)
			for i, lease := range held {
				go func() {
					_, err := others.Mutex(path(i)).Lock(ctx)
					now := time.Now()
					if err == nil && lease.Context().Err() == nil {
						select {
						case <-lease.Context().Done():
						case <-time.After(5 * timeout):
						}
						late <- time.Since(now)
						return
					}
					late <- 0
				}()
			}
			time.Sleep(timeout) // the lease is a steady one
			log.slow.Store(true)
			proxy.Refuse(true)
			proxy.Cut()
			count, most := 0, time.Duration(0)
			for range held {
				if d := patient.Receive(t, late); d > 0 {
					count, most = count+1, max(most, d)
				}
			}
			require.Zerof(t, count, "of %d contexts ended after another client held, by up to %v", leases, most)
			for _, lease := range held {
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
			}
			for what, do := range map[string]func(context.Context) error{"Unlock": held[0].Unlock, "Close": cut.Close} {
				bounded, cancel := context.WithTimeout(ctx, time.Second)
				done := make(chan error, 1)
				go func() { done <- do(bounded) }()
				select {
				case <-done:
				case <-time.After(timeout):
					t.Errorf("%s has not returned %v after its ctx ended", what, timeout)
				}
				cancel()
			}
		})
	}
}
