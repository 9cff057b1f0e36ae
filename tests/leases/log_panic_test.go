package leases

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// explodes is a log handler that panics at a record of a lock in a state.
type explodes struct {
	slog.Handler
	at *atomic.Pointer[string]
}

func (explodes) Enabled(context.Context, slog.Level) bool { return true }
func (e explodes) WithAttrs([]slog.Attr) slog.Handler     { return e }
func (e explodes) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if state := e.at.Load(); state != nil && a.Key == "event" && a.Value.String() == *state {
			panic("the log handler panics")
		}
		return true
	})
	return nil
}

// TestLogHandlerThatPanics: a log handler panics before the lock was granted, and after. Lock says that it failed, and not
// that a lock was lost that it never had; of one that it had the lease says that it was lost. The client goes on.
func TestLogHandlerThatPanics(t *testing.T) {
	at := &atomic.Pointer[string]{}
	server := embedded.Run(t)
	client, other := patient.Open(t, server.Addr(), locks.WithLogger(slog.New(explodes{slog.DiscardHandler, at}))),
		patient.Open(t, server.Addr())
	arm := func(event string) { at.Store(&event) }

	arm("Begin")
	_, err := client.Mutex("/bomb").Lock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrFailed)
	require.NotErrorIs(t, err, locks.ErrLost)
	require.NotErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "the lock actor was stopped")
	require.False(t, locks.MayPass(err))
	at.Store(nil)
	patient.Cycle(t, client.Mutex("/bomb"))

	held, err := other.Mutex("/bomb").Lock(patient.Deadline(t))
	require.NoError(t, err)
	arm("Listed") // while it waits
	_, err = client.Mutex("/bomb").Lock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrFailed)
	require.NotErrorIs(t, err, locks.ErrLost)
	at.Store(nil)
	require.NoError(t, held.Unlock(patient.Deadline(t)))
	patient.Cycle(t, other.Mutex("/bomb"))

	lease, err := client.Mutex("/bomb").Lock(patient.Deadline(t))
	require.NoError(t, err)
	arm("Release")
	err = lease.Unlock(patient.Deadline(t))
	at.Store(nil)
	require.ErrorIs(t, err, locks.ErrLost)
	patient.Cycle(t, other.Mutex("/bomb"))
}
