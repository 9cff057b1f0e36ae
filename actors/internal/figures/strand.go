package figures

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// with is a set of attributes as instruments take it, made once: an instrument's method that is given such a slice
// allocates none.
type with struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func newWith(attributes ...attribute.KeyValue) with {
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	return with{add: []metric.AddOption{option}, record: []metric.RecordOption{option}}
}

// strand is what requests of one mode and one label have in common: their sets of attributes.
type strand struct {
	plain         with
	local, remote with // hand-offs
	asked, forced with // revocations
	recovered     [causes]with
	mu            sync.RWMutex
	failed, ends  map[messages.Reason]with
	common        []attribute.KeyValue
}

func newStrand(mode messages.Mode, labels []attribute.KeyValue) *strand {
	common := append(append([]attribute.KeyValue(nil), labels...), metering.KeyMode.String(mode.String()))
	and := func(more attribute.KeyValue) with {
		return newWith(append(common[:len(common):len(common)], more)...)
	}
	s := &strand{
		plain:  newWith(common...),
		local:  and(metering.KeyHandoff.String(metering.HandoffLocal)),
		remote: and(metering.KeyHandoff.String(metering.HandoffRemote)),
		asked:  and(metering.KeyRevocation.String(metering.RevocationAsked)),
		forced: and(metering.KeyRevocation.String(metering.RevocationForced)),
		failed: map[messages.Reason]with{}, ends: map[messages.Reason]with{},
		common: common,
	}
	for i := range s.recovered {
		s.recovered[i] = and(metering.KeyCause.String(causeWords[i]))
	}
	return s
}

// gaveUp is for the time of a request that gave up.
func (s *strand) gaveUp(why messages.Reason) with {
	return s.because(s.failed, metering.KeyErrorType, why)
}

// ended is for a hold that has ended.
func (s *strand) ended(why messages.Reason) with { return s.because(s.ends, metering.KeyReason, why) }

// because makes a reason's set when it is first seen.
func (s *strand) because(known map[messages.Reason]with, key attribute.Key, why messages.Reason) with {
	s.mu.RLock()
	w, made := known[why]
	s.mu.RUnlock()
	if !made {
		w = newWith(append(s.common[:len(s.common):len(s.common)], key.String(metering.Reason(why)))...)
		s.mu.Lock()
		known[why] = w
		s.mu.Unlock()
	}
	return w
}
