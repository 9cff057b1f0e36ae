package guides_test

import (
	"cmp"
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
func boundedHandler(client *locks.Client, id string, pay func(ctx context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		waiting, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		lease, err := client.Mutex("/orders/" + id).Lock(waiting)
		if err == nil {
			defer lease.Release()
			err = pay(lease.Context())
			if !lease.Valid() {
				<-lease.Context().Done()
				err = fmt.Errorf("%w: %w", context.Cause(lease.Context()), err)
			}
		}
		w.WriteHeader(answer(r.Context(), client, err))
	}
}

// doHandler is the handler of the guide that has Do lock, of an order that is only tried or waited
// for.
func doHandler(client *locks.Client, locker locks.Locker, pay func(ctx context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := locks.Do(r.Context(), locker, func(ctx context.Context, _ locks.Token) error { return pay(ctx) })
		w.WriteHeader(answer(r.Context(), client, err))
	}
}

// answer is the guide's table, with the lines for 409 in front of MayPass.
func answer(ctx context.Context, client *locks.Client, err error) int {
	var e *locks.Error
	switch {
	case err == nil:
		return http.StatusOK
	case ctx.Err() != nil:
		return http.StatusServiceUnavailable
	case errors.Is(err, locks.ErrNotAcquired):
		return http.StatusConflict
	case client.Ready() == nil && errors.As(err, &e) && e.Behind.Node != "":
		return http.StatusConflict
	case locks.MayPass(err), errors.Is(err, locks.ErrClosed):
		return http.StatusServiceUnavailable
	case errors.Is(err, locks.ErrBadPath):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// What a handler answers whose server is stopped, is cut off, or ends the session, while it pays
// and before it does; when somebody else has the order; and when its own work fails.
func TestHandlerAnswers(t *testing.T) {
	const ok, unavailable, conflict = http.StatusOK, http.StatusServiceUnavailable, http.StatusConflict
	holds := func(_ *embedded.Server, other *locks.Client) {
		_, _ = other.Mutex("/orders/42").Lock(context.Background())
	}
	for name, c := range map[string]struct {
		before, while func(server *embedded.Server, other *locks.Client)
		fails         error // of the work, before anything befalls it
		id            string
		closed, goes  bool   // the client is closed before; the caller goes while it pays
		status        [3]int // with a bounded wait, by Do, and by Do of what is only tried; 0 is not told
	}{
		"nothing is wrong":     {status: [3]int{ok, ok, ok}},
		"somebody else has it": {status: [3]int{conflict, 0, conflict}, before: holds},
		"stopped before":       {status: [3]int{unavailable, 0, 0}, before: stopped},
		"stopped":              {status: [3]int{unavailable, unavailable, unavailable}, while: stopped},
		"cut off before":       {status: [3]int{unavailable, 0, 0}, before: cutOff},
		"cut off":              {status: [3]int{unavailable, unavailable, unavailable}, while: cutOff},
		"session expires":      {status: [3]int{unavailable, unavailable, unavailable}, while: expired},
		"expired before":       {status: [3]int{ok, ok, ok}, before: expired},
		"has it, stopped":      {status: [3]int{unavailable, 0, 0}, before: hadAndStopped(1900 * time.Millisecond)},
		"has it, long ago":     {status: [3]int{unavailable, 0, 0}, before: hadAndStopped(time.Minute)},
		"the caller goes":      {status: [3]int{unavailable, unavailable, unavailable}, goes: true},
		"closed":               {status: [3]int{unavailable, unavailable, unavailable}, closed: true},
		"no lock path":         {status: [3]int{http.StatusBadRequest, http.StatusBadRequest, http.StatusBadRequest}, id: ".."},
		"the work fails": {status: [3]int{http.StatusInternalServerError, http.StatusInternalServerError,
			http.StatusInternalServerError}, fails: errDeclined},
	} {
		for i, how := range []string{"bounded", "Do", "Do and Try"} {
			if c.status[i] == 0 {
				continue // it waits for as long as its caller does
			}
			t.Run(name+", "+how, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *embedded.Server, client, other *locks.Client) {
					ctx, goes := context.WithCancel(t.Context())
					defer goes()
					if c.before != nil {
						c.before(server, other)
					}
					if c.closed {
						require.NoError(t, client.Close(t.Context()))
					}
					id := cmp.Or(c.id, "42")
					pay := func(ctx context.Context) error {
						switch {
						case c.while != nil:
							c.while(server, other)
						case c.goes:
							goes()
						default:
							return c.fails
						}
						<-ctx.Done()
						return ctx.Err()
					}
					if c.goes && how == "bounded" { // its work ends with the lease alone
						within := pay
						pay = func(context.Context) error { return within(ctx) }
					}
					mutex := client.Mutex("/orders/" + id)
					handler := map[string]http.HandlerFunc{"bounded": boundedHandler(client, id, pay),
						"Do": doHandler(client, mutex, pay), "Do and Try": doHandler(client, locks.Try(mutex), pay)}[how]
					w := httptest.NewRecorder()
					handler(w, httptest.NewRequestWithContext(ctx, http.MethodPut, "/orders/42", nil))
					require.Equal(t, c.status[i], w.Code)
					_ = server.Replica(0).Start()
					server.Replica(0).Resume()
					time.Sleep(time.Minute)
				})
			})
		}
	}
}

// errDeclined is an error of the work's own.
var errDeclined = errors.New("the card was declined")

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
