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

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// boundedHandler is the handler of the guide that bounds its wait alone, and answers what the guide
// says.
func boundedHandler(d *desk, locker locks.Locker, pay func(ctx context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		waiting, cancel := context.WithTimeout(r.Context(), d.patience)
		defer cancel()
		lease, err := locker.Lock(waiting)
		if err == nil {
			defer lease.Release()
			err = pay(lease.Context())
			if !lease.Valid() {
				<-lease.Context().Done()
				err = fmt.Errorf("%w: %w", context.Cause(lease.Context()), err)
			}
		}
		w.WriteHeader(d.answer(r.Context(), err))
	}
}

// doHandler is the handler of the guide that has Do lock, of an order that is only tried or waited
// for.
func doHandler(d *desk, locker locks.Locker, pay func(ctx context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := locks.Do(r.Context(), locker, func(ctx context.Context, _ locks.Token) error { return pay(ctx) })
		w.WriteHeader(d.answer(r.Context(), err))
	}
}

// answer is the guide's table, with the lines for 409 in front of MayPass.
func (d *desk) answer(ctx context.Context, err error) int {
	var e *locks.Error
	switch {
	case err == nil:
		return http.StatusOK
	case ctx.Err() != nil:
		return http.StatusServiceUnavailable
	case errors.Is(err, locks.ErrNotAcquired):
		return http.StatusConflict
	case d.ready() && errors.As(err, &e) && e.Behind.Node != "":
		return http.StatusConflict
	case locks.MayPass(err), errors.Is(err, locks.ErrClosed):
		return http.StatusServiceUnavailable
	case errors.Is(err, locks.ErrBadPath):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// ready asks Ready where the client has a session. Over a gateway the guide has Behind alone.
func (d *desk) ready() bool { return d.gateway != nil || d.client.Ready() == nil }

// desk is where a handler works.
type desk struct {
	server   *embedded.Server
	client   *locks.Client // the handler's
	other    *locks.Client // somebody else's, with a session of its own
	gateway  *actor.PID    // over which the client is; nil where it has a session
	system   *actor.ActorSystem
	order    string
	opts     []locks.LockOption
	patience time.Duration // of a bounded wait
}

// atDesk runs a test in a bubble, with a client that has a session, or one over a gateway.
func atDesk(t *testing.T, overGateway bool, test func(t *testing.T, d *desk)) {
	inBubble(t, func(t *testing.T, server *embedded.Server, client, other *locks.Client) {
		d := &desk{server: server, client: client, other: other, system: client.System(), order: "/orders/42",
			patience: 2 * time.Second}
		if overGateway {
			var err error
			d.gateway, err = gateway.Spawn(d.system, client.Session(), "locks")
			require.NoError(t, err)
			d.client, err = gateway.Open(t.Context(), d.system, gateway.At(d.gateway))
			require.NoError(t, err)
			defer func() {
				ctx := context.WithoutCancel(t.Context())
				require.NoError(t, d.client.Close(ctx))
				_ = client.Close(ctx)
				time.Sleep(time.Minute) // what the gateway sent to requests that are over is dropped slowly
			}()
		}
		test(t, d)
	})
}

// The answers of a handler whose server is stopped, is cut off, or ends the session, while it pays
// and before it does; when somebody else has the order; and when its own work fails. Over a gateway
// they are the same, and 503 when the gateway is out of reach.
func TestHandlerAnswers(t *testing.T) {
	const ok, unavailable, conflict = http.StatusOK, http.StatusServiceUnavailable, http.StatusConflict
	cohort := []locks.LockOption{locks.WithCohort(9)} // it waits inside the session, which asks no server
	for name, c := range map[string]struct {
		before, while func(d *desk)
		fails         error // of the work, before anything befalls it
		id            string
		opts          []locks.LockOption
		patience      time.Duration
		closed, goes  bool   // the client is closed before; the caller goes while it pays
		gateway       bool   // there is one
		status        [3]int // with a bounded wait, by Do, and by Do of a lock that is only tried; 0 is not told
	}{
		"nothing is wrong":     {status: [3]int{ok, ok, ok}},
		"somebody else has it": {status: [3]int{conflict, 0, conflict}, before: held},
		"beside us":            {status: [3]int{conflict, 0, conflict}, before: heldHere},
		"in our cohort":        {status: [3]int{conflict, 0, conflict}, before: busyHere, opts: cohort},
		"stopped before":       {status: [3]int{unavailable, 0, 0}, before: stopped},
		"stopped":              {status: [3]int{unavailable, unavailable, unavailable}, while: stopped},
		"cut off before":       {status: [3]int{unavailable, 0, 0}, before: cutOff},
		"cut off":              {status: [3]int{unavailable, unavailable, unavailable}, while: cutOff},
		"session expires":      {status: [3]int{unavailable, unavailable, unavailable}, while: expired},
		"expired before":       {status: [3]int{ok, ok, ok}, before: expired},
		"has it, stopped":      {status: [3]int{unavailable, 0, 0}, before: after(held, stopped, 1900*time.Millisecond)},
		"has it, long ago":     {status: [3]int{unavailable, 0, 0}, before: after(held, stopped, time.Minute)},
		"beside us, stopped":   {status: [3]int{unavailable, 0, 0}, before: after(heldHere, stopped, 1900*time.Millisecond)},
		"in our cohort, stopped": {status: [3]int{unavailable, 0, 0}, opts: cohort,
			before: after(busyHere, stopped, 1900*time.Millisecond)},
		"stopped while it waits": {status: [3]int{unavailable, 0, 0}, before: whileItWaits(stopped), patience: 5 * time.Second},
		"cut off while it waits": {status: [3]int{unavailable, 0, 0}, before: whileItWaits(cutOff), patience: time.Minute},
		"the caller goes":        {status: [3]int{unavailable, unavailable, unavailable}, goes: true},
		"closed":                 {status: [3]int{unavailable, unavailable, unavailable}, closed: true},
		"no lock path":           {status: [3]int{http.StatusBadRequest, http.StatusBadRequest, http.StatusBadRequest}, id: ".."},
		"the work fails": {status: [3]int{http.StatusInternalServerError, http.StatusInternalServerError,
			http.StatusInternalServerError}, fails: errDeclined},
		"gateway gone before":         {status: [3]int{unavailable, 0, 0}, gateway: true, before: gatewayGone},
		"gateway gone":                {status: [3]int{unavailable, unavailable, unavailable}, gateway: true, while: gatewayGone},
		"has it, gateway gone":        {status: [3]int{unavailable, 0, 0}, gateway: true, before: after(held, gatewayGone, 0)},
		"gateway goes while it waits": {status: [3]int{unavailable, 0, 0}, gateway: true, before: whileItWaits(gatewayGone), patience: time.Minute},
	} {
		for i, how := range []string{"bounded", "Do", "Do and Try"} {
			for _, over := range []string{"session", "gateway"} {
				if c.status[i] == 0 || c.gateway && over != "gateway" {
					continue // it waits for as long as its caller does
				}
				t.Run(name+", "+how+", "+over, func(t *testing.T) {
					atDesk(t, over == "gateway", func(t *testing.T, d *desk) {
						ctx, goes := context.WithCancel(t.Context())
						defer goes()
						d.opts, d.patience = c.opts, cmp.Or(c.patience, d.patience)
						if c.before != nil {
							c.before(d)
						}
						if c.closed {
							require.NoError(t, d.client.Close(t.Context()))
						}
						pay := func(ctx context.Context) error {
							switch {
							case c.while != nil:
								c.while(d)
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
						mutex := d.client.Mutex("/orders/"+cmp.Or(c.id, "42"), d.opts...)
						handler := map[string]http.HandlerFunc{"bounded": boundedHandler(d, mutex, pay),
							"Do": doHandler(d, mutex, pay), "Do and Try": doHandler(d, locks.Try(mutex), pay)}[how]
						w := httptest.NewRecorder()
						handler(w, httptest.NewRequestWithContext(ctx, http.MethodPut, "/orders/42", nil))
						require.Equal(t, c.status[i], w.Code)
						_ = d.server.Replica(0).Start()
						d.server.Replica(0).Resume()
						time.Sleep(time.Minute)
					})
				})
			}
		}
	}
}

// errDeclined is an error of the work's own.
var errDeclined = errors.New("the card was declined")

func stopped(d *desk)     { d.server.Leader().Pause() }
func cutOff(d *desk)      { d.server.Replica(0).Stop() }
func gatewayGone(d *desk) { d.system.Root.Stop(d.gateway) }
func expired(d *desk) {
	for _, session := range d.server.Sessions() {
		_ = d.server.Expire(session)
	}
}

// held: somebody else has the order; heldHere: through the same session, or gateway; busyHere: another waits there, too.
func held(d *desk)     { _, _ = d.other.Mutex(d.order, d.opts...).Lock(context.Background()) }
func heldHere(d *desk) { _, _ = d.client.Mutex(d.order, d.opts...).Lock(context.Background()) }

func busyHere(d *desk) {
	heldHere(d)
	go heldHere(d) // until the client is closed
	time.Sleep(time.Second)
}

// after is one thing, then another, and then a while.
func after(first, then func(*desk), while time.Duration) func(*desk) {
	return func(d *desk) {
		first(d)
		then(d)
		time.Sleep(while)
	}
}

// whileItWaits: somebody else has the order, and a second later it happens.
func whileItWaits(happens func(*desk)) func(*desk) {
	return func(d *desk) {
		held(d)
		time.AfterFunc(time.Second, func() { happens(d) })
	}
}
