package guides_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// boundedHandler is the handler of the guide that bounds its wait alone, and answers what the guide
// says.
func boundedHandler(client *locks.Client, pay func(ctx context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		waiting, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		lease, err := client.Mutex("/orders/42").Lock(waiting)
		if err == nil {
			defer lease.Release()
			err = pay(lease.Context())
			if !lease.Valid() {
				<-lease.Context().Done()
				err = fmt.Errorf("%w: %w", context.Cause(lease.Context()), err)
			}
		}
		var e *locks.Error
		status := http.StatusInternalServerError
		switch {
		case err == nil:
			status = http.StatusOK
		case r.Context().Err() != nil:
			status = http.StatusServiceUnavailable
		case client.Ready() == nil && errors.As(err, &e) && e.Behind.Node != "":
			status = http.StatusConflict
		case locks.MayPass(err):
			status = http.StatusServiceUnavailable
		}
		w.WriteHeader(status)
	}
}

// What a handler answers whose server is stopped, is cut off, or ends the session, while it pays
// and before it does; and when somebody else has the order.
func TestHandlerAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		before, while func(server *embedded.Server, other *locks.Client)
		status        int
	}{
		"nothing is wrong": {status: http.StatusOK},
		"somebody else has it": {status: http.StatusConflict, before: func(_ *embedded.Server, other *locks.Client) {
			_, _ = other.Mutex("/orders/42").Lock(context.Background())
		}},
		"stopped before":   {status: http.StatusServiceUnavailable, before: stopped},
		"stopped":          {status: http.StatusServiceUnavailable, while: stopped},
		"cut off before":   {status: http.StatusServiceUnavailable, before: cutOff},
		"cut off":          {status: http.StatusServiceUnavailable, while: cutOff},
		"session expires":  {status: http.StatusServiceUnavailable, while: expired},
		"expired before":   {status: http.StatusOK, before: expired},
		"has it, stopped":  {status: http.StatusServiceUnavailable, before: hadAndStopped(1900 * time.Millisecond)},
		"has it, long ago": {status: http.StatusServiceUnavailable, before: hadAndStopped(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *embedded.Server, client, other *locks.Client) {
				if c.before != nil {
					c.before(server, other)
				}
				w := httptest.NewRecorder()
				boundedHandler(client, func(ctx context.Context) error {
					if c.while == nil {
						return nil
					}
					c.while(server, other)
					<-ctx.Done()
					return ctx.Err()
				})(w, httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/orders/42", nil))
				require.Equal(t, c.status, w.Code)
				_ = server.Replica(0).Start()
				server.Replica(0).Resume()
				time.Sleep(time.Minute)
			})
		})
	}
}

func stopped(server *embedded.Server, _ *locks.Client) { server.Leader().Pause() }
func cutOff(server *embedded.Server, _ *locks.Client)  { server.Replica(0).Stop() }
func expired(server *embedded.Server, _ *locks.Client) {
	for _, session := range server.Sessions() {
		_ = server.Expire(session)
	}
}

// hadAndStopped is a holder elsewhere, and servers that have been stopped since for a while.
func hadAndStopped(since time.Duration) func(*embedded.Server, *locks.Client) {
	return func(server *embedded.Server, other *locks.Client) {
		_, _ = other.Mutex("/orders/42").Lock(context.Background())
		server.Leader().Pause()
		time.Sleep(since)
	}
}
