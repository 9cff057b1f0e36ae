package figures

import (
	"context"
	"reflect"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

// provider is a MeterProvider and the sessions that have it. They share what is observed rather than told: two callbacks
// that observe one instrument with the same attributes would hide each other.
type provider struct {
	of          metric.MeterProvider
	instruments *instruments
	registered  metric.Registration

	mu       sync.Mutex
	sessions map[*Figures]struct{}
}

// providers are those that sessions have now.
var (
	providersMu sync.Mutex
	providers   = map[metric.MeterProvider]*provider{}
)

// join adds a session to a provider.
func join(from metric.MeterProvider, f *Figures) (*provider, error) {
	providersMu.Lock()
	defer providersMu.Unlock()
	sharable := reflect.ValueOf(from).Comparable() // its type would not do: what is in an interface within it counts
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
	_ = p.registered.Unregister() // nothing can be done about it, and nothing comes of it
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
