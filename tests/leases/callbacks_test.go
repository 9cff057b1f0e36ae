package leases

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	nospan "go.opentelemetry.io/otel/trace/noop"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/digestmd5"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// What a function of the user's does.
const (
	stuck  = "blocks for ever"
	slow   = "takes 50 ms"
	panics = "panics"
)

// fault is what a function of the user's does, once it is armed.
type fault struct {
	does   func()
	armed  atomic.Bool
	struck atomic.Bool
}

func (f *fault) strike() {
	if f.armed.Load() {
		f.struck.Store(true)
		f.does()
	}
}

// A faulty log, faulty instruments, a faulty tracer and a faulty SASL mechanism.
type (
	faultyLog struct {
		slog.Handler
		*fault
		of string // the message that it fails at; "" for all
	}
	faultyMeters struct {
		noop.MeterProvider
		*fault
	}
	faultyMeter struct {
		noop.Meter
		*fault
	}
	faultyCounter struct {
		noop.Int64UpDownCounter
		*fault
	}
	faultyTraces struct {
		nospan.TracerProvider
		start, end *fault
	}
	faultyTracer struct {
		nospan.Tracer
		faultyTraces
	}
	faultySpan struct {
		nospan.Span
		end *fault
	}
	faultySASL struct {
		zkconn.SASLMechanism
		*fault
	}
)

func (faultyLog) Enabled(context.Context, slog.Level) bool { return true }
func (l faultyLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l faultyLog) Handle(_ context.Context, r slog.Record) error {
	if l.of == "" || l.of == r.Message {
		l.strike()
	}
	return nil
}
func (m faultyMeters) Meter(string, ...metric.MeterOption) metric.Meter {
	return faultyMeter{noop.Meter{}, m.fault}
}
func (m faultyMeter) Int64UpDownCounter(string, ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return faultyCounter{noop.Int64UpDownCounter{}, m.fault}, nil
}
func (c faultyCounter) Add(context.Context, int64, ...metric.AddOption) { c.strike() }
func (t faultyTraces) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return faultyTracer{nospan.Tracer{}, t}
}
func (t faultyTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	t.start.strike()
	return ctx, faultySpan{nospan.Span{}, t.end}
}
func (s faultySpan) End(...trace.SpanEndOption) { s.end.strike() }
func (m faultySASL) Start(ctx context.Context, at zkconn.SASLServer) (zkconn.SASLExchange, error) {
	m.strike()
	return m.SASLMechanism.Start(ctx, at)
}

// callback is a function of the user's that a client calls.
type callback struct {
	name string
	// asked: it runs on the caller's goroutine, which waits for it, and to which its panic goes.
	asked bool
	// told: what it panics at is counted.
	told bool
	// needed: a connection waits for it, and ends with its panic.
	needed bool
	// not: what happens without a call of it, and is left out.
	not  []string
	with func(f *fault, dial *scene.Network) locks.Option
}

// connected is what happens on one connection.
var connected = []string{"grant", "Unlock", "Close"}

var callbacks = []callback{
	{name: "log handler", told: true, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithLogger(slog.New(faultyLog{slog.DiscardHandler, f, ""}))
	}},
	{name: "log handler, of protoactor's records", told: true, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithLogger(slog.New(faultyLog{slog.DiscardHandler, f, "[DeadLetter]"}))
	}},
	{name: "log handler of an actor system of the user's, by a queue", with: func(f *fault, _ *scene.Network) locks.Option {
		logger := told.NewLog().Logger(slog.New(faultyLog{slog.DiscardHandler, f, ""}))
		return locks.WithActorSystem(actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return logger })))
	}},
	{name: "instruments", told: true, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithMeterProvider(faultyMeters{noop.MeterProvider{}, f})
	}},
	{name: "labels", asked: true, not: []string{"Close"}, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithMeterLabels(func(string) []attribute.KeyValue { f.strike(); return nil })
	}},
	{name: "start of spans", asked: true, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithTracerProvider(faultyTraces{nospan.TracerProvider{}, f, &fault{}})
	}},
	{name: "end of spans", told: true, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithTracerProvider(faultyTraces{nospan.TracerProvider{}, &fault{}, f})
	}},
	{name: onChange, not: []string{"Unlock"}, with: func(*fault, *scene.Network) locks.Option { return locks.WithSessionTimeout(timeout) }},
	{name: "WithUnreleased", with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithUnreleased(30*time.Second, func(locks.Unreleased) { f.strike() }) // it is armed by then
	}},
	{name: "dialer", needed: true, not: connected, with: func(f *fault, dial *scene.Network) locks.Option {
		return locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			f.strike()
			return dial.Dial(ctx, network, address)
		})
	}},
	{name: "SASL mechanism", needed: true, not: connected, with: func(f *fault, _ *scene.Network) locks.Option {
		mechanism, err := digestmd5.New("app", "secret")
		if err != nil {
			panic(err)
		}
		return locks.WithSASL(faultySASL{mechanism, f})
	}},
	{name: "parents' ACLs", not: []string{"Close"}, with: func(f *fault, _ *scene.Network) locks.Option {
		return locks.WithParentACLFunc(func(string) []zkconn.ACL { f.strike(); return nil })
	}},
}

// onChange is the callback that each request has, and no client.
const onChange = "WithOnChange"

// cell is a client with a faulty function, and two locks that it holds.
type cell struct {
	t           *testing.T
	callback    callback
	does        string
	server      *embedded.Server
	network     *scene.Network
	client      *locks.Client
	first, next *locks.Lease
}

// happenings are what may happen to a client whose function has begun to fail.
var happenings = map[string]func(c *cell){
	"grant":  func(c *cell) { c.within("Lock", c.lock); c.goOn(c.first, c.next) },
	"Unlock": func(c *cell) { c.within("Unlock", c.first.Unlock); c.goOn(c.next) },
	"Close":  func(c *cell) { c.within("Close", c.client.Close); c.endsBy(time.Now()) },
	"cut": func(c *cell) {
		c.network.Outage(100 * time.Millisecond)
		c.deadlines(func() {
			if c.callback.needed && c.does != slow { // there is no connection any more
				time.Sleep(10 * time.Second)
				return
			}
			c.goOn(c.first, c.next)
		})
	},
	"loss by time": func(c *cell) {
		c.network.Refuse(true)
		c.server.Replica(0).DropClients()
		c.endsBy(c.first.Deadline())
		c.network.Refuse(false)
	},
	"expiry": func(c *cell) {
		deadline := c.first.Deadline()
		require.NoError(c.t, c.server.Expire(c.client.Session().ID()))
		c.endsBy(deadline)
	},
}

// within finds that a call returns when its ctx ends. What the caller itself is asked may hold it up, or panic.
func (c *cell) within(what string, call func(context.Context) error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	begun, done := time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		defer func() { require.True(c.t, recover() == nil || c.callback.asked, "%s panics", what) }()
		_ = call(ctx)
	}()
	select {
	case <-done:
	case <-time.After(6 * time.Second):
		require.True(c.t, c.callback.asked && c.does == stuck && what == "Lock", "%s has not returned %v after it was called", what,
			time.Since(begun))
	}
}

func (c *cell) lock(ctx context.Context) error {
	_, err := c.client.Mutex("/other").Lock(ctx)
	return err
}

// goOn finds that leases go on while the connection stands.
func (c *cell) goOn(leases ...*locks.Lease) {
	c.t.Helper()
	time.Sleep(time.Minute)
	for _, lease := range leases {
		require.True(c.t, lease.Valid(), context.Cause(lease.Context()))
	}
}

// endsBy finds that the contexts of both leases end in time, as lost.
func (c *cell) endsBy(deadline time.Time) {
	c.t.Helper()
	for _, lease := range []*locks.Lease{c.first, c.next} {
		<-lease.Context().Done()
		require.False(c.t, time.Now().After(deadline), "%v late", time.Since(deadline))
		require.ErrorIs(c.t, context.Cause(lease.Context()), locks.ErrLost)
	}
}

// deadlines finds, while something goes on, that no context outlives the validity of its lease.
func (c *cell) deadlines(during func()) {
	c.t.Helper()
	over := make(chan struct{})
	go func() { defer close(over); during() }()
	for {
		select {
		case <-over:
			return
		case <-time.After(50 * time.Millisecond):
		}
		synctest.Wait()
		for _, lease := range []*locks.Lease{c.first, c.next} {
			require.Equal(c.t, lease.Valid(), lease.Context().Err() == nil)
		}
	}
}

// TestCallbacks: whatever a function of the user's does, and whatever happens then, contexts of leases end on time; Lock,
// Unlock and Close return when their ctx ends; and other leases go on while the connection stands.
// The function for suspended time has TestSuspendedTimeOfTheUser.
func TestCallbacks(t *testing.T) {
	for _, callback := range callbacks {
		for _, does := range []string{stuck, slow, panics} {
			for event, happens := range happenings {
				if slices.Contains(callback.not, event) {
					continue
				}
				t.Run(callback.name+"/"+does+"/"+event, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						never := make(chan struct{})
						f := &fault{does: map[string]func(){stuck: func() { <-never },
							slow: func() { time.Sleep(50 * time.Millisecond) }, panics: func() { panic(does) }}[does]}
						c := &cell{t: t, callback: callback, does: does,
							server: scene.Virtual(t, embedded.WithSASL(map[string]string{"app": "secret"}))}
						c.network = &scene.Network{Server: c.server}
						c.client = scene.ClientOver(t, c.server, c.network, locks.WithMeterProvider(noop.MeterProvider{}), callback.with(f, c.network))
						told := locks.WithOnChange(func(locks.Change) {
							if callback.name == onChange {
								f.strike()
							}
						})
						c.first = scene.Locked(t, c.client.Mutex("/first", told).Lock)
						c.next = scene.Locked(t, c.client.Mutex("/next", told).Lock)
						dead := c.client.System().Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
						require.NoError(t, c.client.System().Root.StopFuture(dead).Wait())
						time.Sleep(20 * time.Second) // the lease is a steady one

						f.armed.Store(true)
						c.client.System().Root.Send(dead, "protoactor logs this")
						happens(c)
						c.within("Unlock", c.next.Unlock)
						c.within("Lock", c.lock)
						c.within("Close", c.client.Close)
						synctest.Wait() // what happened last is told on other goroutines
						require.Equal(t, callback.told && does == panics, c.client.Session().Counters().Untold > 0)
						require.True(t, f.struck.Load(), "it was called")
						f.armed.Store(false)
						close(never)
						_ = c.client.Close(t.Context())
						if system := c.client.System(); !system.IsStopped() { // the user's
							system.Shutdown()
						}
						time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
					})
				})
			}
		}
	}
}
