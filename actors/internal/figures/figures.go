// Package figures counts and times the steps of lock requests and sessions: package metering has
// the list.
package figures

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// Figures counts for one session; nil Figures count nothing. Methods about the session belong to
// the session actor, others to any goroutine.
type Figures struct {
	labels   metering.Labels
	provider *provider
	told     *told.Queue[measurement] // the instruments are the user's
	session  *strand
	strands  sync.Map // by strandKey: *strand
	holders  atomic.Int64
	left     func() (time.Duration, bool)
	state    string // under which it is counted; "" before and after
}

type strandKey struct {
	mode   messages.Mode
	labels attribute.Distinct
}

// New makes the figures of a session, until End; nil without a provider. left tells, on other
// goroutines, how long its leases last. The error is the provider's refusal of an instrument.
func New(from metric.MeterProvider, labels metering.Labels, left func() (time.Duration, bool)) (*Figures, error) {
	if from == nil {
		return nil, nil
	}
	f := &Figures{labels: labels, left: left, told: told.NewQueue(told.Most, measurement.tell, nil)}
	var err error
	if f.provider, err = join(from, f); err != nil {
		return nil, fmt.Errorf("turnstile: metrics: %w", err)
	}
	f.session = f.newStrand()
	for _, how := range []string{metering.CauseDisconnected, metering.CauseSilent, metering.CauseExpired} {
		f.Add("turnstile.session.interruptions", 0, metering.KeyCause.String(how)) // as begin does for locks
	}
	f.Add("turnstile.session.weight", 0)
	f.Add("turnstile.session.inside", 0)
	return f, nil
}

// measurement is what an instrument is to be told; of a registration, that it is over.
type measurement struct {
	to    any
	value float64
	with  with
}

type counter interface {
	Add(ctx context.Context, n int64, opts ...metric.AddOption)
}

func (m measurement) tell() {
	switch to := m.to.(type) {
	case counter:
		to.Add(always, int64(m.value), m.with.add...)
	case metric.Float64Histogram:
		to.Record(always, m.value, m.with.record...)
	case metric.Int64Histogram:
		to.Record(always, int64(m.value), m.with.record...)
	case metric.Registration:
		_ = to.Unregister() // an error has no consequences
	}
}

// Add adds to a count of the session, or records a value of it, with one attribute at most.
func (f *Figures) Add(name string, n int, more ...attribute.KeyValue) {
	if f != nil {
		f.session.measure(name, float64(n), more...)
	}
}

// Wait waits until the instruments have been told all earlier measurements, or ctx ends.
func (f *Figures) Wait(ctx context.Context) {
	if f != nil {
		f.told.Wait(ctx)
	}
}

// Untold counts the measurements that were dropped: see package told.
func (f *Figures) Untold() int64 {
	if f == nil {
		return 0
	}
	return f.told.Untold()
}

// Moment is nanoseconds since the program began to count; zero for none.
type Moment = coordinator.Moment

// Handoff says when the earlier holder gave the lock back, or was heard to be gone.
type Handoff = coordinator.Handoff

var origin = time.Now().Add(-1)

// Now is the time, for measurements that begin elsewhere; zero without figures.
func (f *Figures) Now() Moment {
	if f == nil {
		return 0
	}
	return Moment(time.Since(origin))
}

// Became counts a session under another state: a word of package metering, "" for one that has
// ended.
func (f *Figures) Became(to string) {
	if f == nil || f.state == to {
		return
	}
	if f.state != "" {
		f.Add("turnstile.session.count", -1, metering.KeyState.String(f.state))
	}
	if to != "" {
		f.Add("turnstile.session.count", 1, metering.KeyState.String(to))
	}
	f.state = to
}

// End ends the figures of a session. Its counts stay.
func (f *Figures) End() {
	if f != nil {
		f.Became("")
		if last := f.provider.forget(f); last != nil {
			f.told.Tell(measurement{to: last})
		}
	}
}

// provider is a MeterProvider and its sessions, which share the observable instruments: two
// callbacks for one instrument with the same attributes would hide each other.
type provider struct {
	of          metric.MeterProvider // nil for one that is no key
	instruments map[string]any       // by their names
	registered  metric.Registration

	mu       sync.Mutex
	sessions map[*Figures]struct{}
}

var (
	providersMu sync.Mutex
	providers   = map[metric.MeterProvider]*provider{}
)

func join(from metric.MeterProvider, f *Figures) (p *provider, err error) {
	providersMu.Lock()
	defer providersMu.Unlock()
	sharable := reflect.ValueOf(from).Comparable() // its type would not do: the values in its interfaces count
	if sharable {
		p = providers[from]
	}
	if p == nil {
		meter := from.Meter(metering.Scope)
		p = &provider{sessions: map[*Figures]struct{}{}}
		if p.instruments, err = newInstruments(meter); err != nil {
			return nil, err
		}
		if p.registered, err = meter.RegisterCallback(p.observe, p.lease()); err != nil {
			return nil, err
		}
		if sharable {
			p.of, providers[from] = from, p
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[f] = struct{}{}
	return p, nil
}

// forget gives the registration with the last session.
func (p *provider) forget(f *Figures) (last metric.Registration) {
	providersMu.Lock()
	defer providersMu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.sessions, f); len(p.sessions) > 0 {
		return nil
	}
	if last, p.registered = p.registered, nil; last != nil && p.of != nil {
		delete(providers, p.of)
	}
	return last
}

func (p *provider) lease() metric.Float64Observable {
	return p.instruments["turnstile.session.lease.remaining"].(metric.Float64Observable)
}

const longestWait = time.Second

// wait has a collection find all that was measured before it, unless an instrument is stuck: for
// longestWait.
func (p *provider) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	p.mu.Lock()
	sessions := slices.Collect(maps.Keys(p.sessions))
	p.mu.Unlock()
	for _, f := range sessions {
		f.Wait(ctx)
	}
}

// observe tells the least time left of the leases of sessions that hold locks. Others send no
// heartbeats.
func (p *provider) observe(ctx context.Context, to metric.Observer) error {
	p.wait(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	found, least := false, 0.0
	for f := range p.sessions {
		if f.holders.Load() == 0 {
			continue
		}
		if left, known := f.left(); known && (!found || left.Seconds() < least) {
			found, least = true, max(left.Seconds(), 0)
		}
	}
	if found {
		to.ObserveFloat64(p.lease(), least)
	}
	return nil
}
