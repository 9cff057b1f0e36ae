// Package figures counts and times the steps of lock requests and sessions: package metering has the list, with their
// names.
package figures

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// Figures counts for one session. Nil figures count nothing: all methods may be called. Methods about the session
// belong to the session actor, the others may be called from any goroutine.
type Figures struct {
	*instruments
	labels   metering.Labels
	provider *provider
	strands  sync.Map // by strandKey: *strand
	holders  atomic.Int64
	left     func() (time.Duration, bool)
	state    string // the state that it is counted under; "" for a session that has not begun, or has ended
	weight   int64  // as it was told last, in bytes
	inside   int64  // likewise
}

type strandKey struct {
	mode   messages.Mode
	labels attribute.Distinct
}

// New makes the figures of a session, which End ends. left tells how long its leases last, false where that is not known;
// it is called from other goroutines. New returns nil when there is no provider, and an error when that refuses an
// instrument.
func New(from metric.MeterProvider, labels metering.Labels, left func() (time.Duration, bool)) (*Figures, error) {
	if from == nil {
		return nil, nil
	}
	f := &Figures{labels: labels, left: left}
	var err error
	if f.provider, err = join(from, f); err != nil {
		return nil, fmt.Errorf("turnstile: metrics: %w", err)
	}
	f.instruments = f.provider.instruments
	for _, how := range []with{byDisconnect, bySilence, byExpiry} {
		f.interruptions.Add(always, 0, how.add...) // as begin does for locks
	}
	f.instruments.weight.Add(always, 0)
	f.instruments.inside.Add(always, 0)
	return f, nil
}

// Moment is a time in eight bytes: nanoseconds since the program began to count. Zero stands for no
// time.
type Moment int64

var origin = time.Now().Add(-1)

// Now is the time, for measurements that begin elsewhere; zero where there are no figures.
func (f *Figures) Now() Moment {
	if f == nil {
		return 0
	}
	return Moment(time.Since(origin))
}

// stateWith has the states of a session that are counted, by their words. The session has one enumeration of its
// connection's phases, actors.Phase, which says under which word each is counted.
var stateWith = map[string]with{
	metering.StateConnecting:   newWith(metering.KeyState.String(metering.StateConnecting)),
	metering.StateConnected:    newWith(metering.KeyState.String(metering.StateConnected)),
	metering.StateDisconnected: newWith(metering.KeyState.String(metering.StateDisconnected)),
}

// Became counts a session under another state: a word of package metering, "" for a session that has ended.
func (f *Figures) Became(to string) {
	if f == nil || f.state == to {
		return
	}
	if f.state != "" {
		f.sessions.Add(always, -1, stateWith[f.state].add...)
	}
	if to != "" {
		f.sessions.Add(always, 1, stateWith[to].add...)
	}
	f.state = to
}

var (
	byDisconnect = newWith(metering.KeyCause.String(causeWords[disconnected]))
	bySilence    = newWith(metering.KeyCause.String(causeWords[silent]))
	byExpiry     = newWith(metering.KeyCause.String(causeWords[expired]))
)

// Down takes the loss of a connection.
func (f *Figures) Down() { f.interrupted(byDisconnect) }

// Silent takes a heartbeat that was not answered in time.
func (f *Figures) Silent() { f.interrupted(bySilence) }

// Expired takes the expiry of a session.
func (f *Figures) Expired() { f.interrupted(byExpiry) }

func (f *Figures) interrupted(how with) {
	if f != nil {
		f.interruptions.Add(always, 1, how.add...)
	}
}

// Batch takes so many creates and deletes that are sent together.
func (f *Figures) Batch(operations int) {
	if f != nil {
		f.batches.Add(always, 1)
		f.size.Record(always, int64(operations))
	}
}

// Loaded takes the weight of the session's ephemeral nodes, in bytes, and the number of requests that wait inside it.
func (f *Figures) Loaded(weight, inside int) {
	if f == nil {
		return
	}
	if d := int64(weight) - f.weight; d != 0 {
		f.instruments.weight.Add(always, d)
		f.weight += d
	}
	if d := int64(inside) - f.inside; d != 0 {
		f.instruments.inside.Add(always, d)
		f.inside += d
	}
}

// End ends the figures of a session. Its counts stay.
func (f *Figures) End() {
	if f != nil {
		f.Loaded(0, 0)
		f.Became("")
		f.provider.leave(f)
	}
}

// provider is a MeterProvider and the sessions that have it. They share the observable instruments: two callbacks
// that observe one instrument with the same attributes would hide each other.
type provider struct {
	of          metric.MeterProvider
	instruments *instruments
	registered  metric.Registration

	mu       sync.Mutex
	sessions map[*Figures]struct{}
}

// providers has the MeterProviders that sessions use now.
var (
	providersMu sync.Mutex
	providers   = map[metric.MeterProvider]*provider{}
)

// join adds a session to a provider.
func join(from metric.MeterProvider, f *Figures) (*provider, error) {
	providersMu.Lock()
	defer providersMu.Unlock()
	sharable := reflect.ValueOf(from).Comparable() // its type would not do: the values in its interfaces count
	if sharable {
		if p := providers[from]; p != nil {
			p.mu.Lock()
			p.sessions[f] = struct{}{}
			p.mu.Unlock()
			return p, nil
		}
	}
	meter := from.Meter(metering.Scope)
	made, err := newInstruments(meter)
	if err != nil {
		return nil, err
	}
	p := &provider{of: from, instruments: made, sessions: map[*Figures]struct{}{f: {}}}
	if p.registered, err = meter.RegisterCallback(p.observe, made.lease); err != nil {
		return nil, err
	}
	if sharable {
		providers[from] = p
	}
	return p, nil
}

// leave takes a session off its provider. The last one unregisters the callback.
func (p *provider) leave(f *Figures) {
	providersMu.Lock()
	defer providersMu.Unlock()
	p.mu.Lock()
	delete(p.sessions, f)
	left := len(p.sessions)
	p.mu.Unlock()
	if left > 0 || p.registered == nil {
		return
	}
	if reflect.ValueOf(p.of).Comparable() {
		delete(providers, p.of)
	}
	_ = p.registered.Unregister() // an error has no consequences
	p.registered = nil
}

// observe tells the least time that is left of the leases of the sessions that hold locks. Others send no heartbeats:
// theirs run out, and it means nothing.
func (p *provider) observe(_ context.Context, to metric.Observer) error {
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
		to.ObserveFloat64(p.instruments.lease, least)
	}
	return nil
}
