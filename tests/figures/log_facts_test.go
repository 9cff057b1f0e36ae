package figures_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestOneRecordForOneFact: the loss of a connection, the expiry of a session and the loss of a lock
// are logged once each at the usual level, and there is nothing of dead letters: a lost lease is
// given back as any other, and nobody needs to know.
func TestOneRecordForOneFact(t *testing.T) {
	w := &world{t: t, server: embedded.Run(t)}
	var logged logs
	client := patient.Open(t, w.server.Addr(),
		locks.WithLogger(slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelInfo}))))
	lease := w.lock(client.Mutex("/orders/42"))
	require.NoError(t, w.server.Expire(client.Session().ID()))
	<-lease.Context().Done()
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrLost)
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrLost)
	w.unlock(w.lock(client.Mutex("/orders/42"))) // in the next session
	require.NoError(t, client.Close(patient.Deadline(t)))

	times := map[string]int{}
	for _, r := range logged.records(t) {
		text := r["msg"].(string)
		require.NotContains(t, text, "DeadLetter", r)
		for _, fact := range []string{"expired", "lost", "connect"} {
			if r["level"] == "WARN" && strings.Contains(text, fact) {
				times[fact]++
			}
		}
	}
	require.Equal(t, map[string]int{"expired": 1, "lost": 1, "connect": 1}, times, "connect: the session was disconnected")
}
