package figures

import (
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// Request follows one request, of a lock actor or a call. A nil Request follows nothing.
type Request struct {
	figures   *Figures
	strand    *strand
	stage     stage
	since     time.Time
	handedOff Moment // when the one before was gone; zero while it is not
	local     bool   // it was of the same session
	below     bool   // only recoveries are counted; calls count the rest
	asked     bool   // somebody asks for the lock
}

type stage uint8

const (
	unasked stage = iota
	waiting
	holding
	over
)

// HandedOff notes when the earlier holder gave the lock back, or was heard to be gone; local: in
// the same session.
func (r *Request) HandedOff(at Moment, local bool) {
	if r != nil && at != 0 {
		r.handedOff, r.local = at, local
	}
}

// Step takes the machine before and after an event.
func (r *Request) Step(before, after *machine.Machine, ev *machine.Event) {
	if r == nil || after.State == before.State {
		return
	}
	switch to := after.State; {
	case to == messages.StateCreating && r.stage == unasked:
		r.Waits()
	case to == messages.StateWatching:
		r.handedOff = 0
	case to == messages.StateRecovering:
		r.handedOff = 0
		r.figures.add("turnstile.lock.recoveries", 1, r.strand.recovered[causeOf(ev)])
	case to.Holding():
		r.Grants()
	case to == messages.StateReleasing || to.Terminal():
		r.Leaves(after.Reason, to == messages.StateLost)
	}
}

// Waits takes the begin of a request.
func (r *Request) Waits() {
	if r != nil && !r.below {
		r.stage, r.since = waiting, time.Now()
		r.figures.add("turnstile.lock.waiting", 1, r.strand.plain)
	}
}

// Asked notes that somebody asks for the lock, Forced that the grace is over. Of a shared hold's
// lock actor only Forced counts.
func (r *Request) Asked() {
	if r != nil && !r.below && !r.asked {
		r.asked = true
		r.figures.add("turnstile.lock.revocations", 1, r.strand.asked)
	}
}

// Forced is explained at Asked.
func (r *Request) Forced() {
	if r != nil {
		r.figures.add("turnstile.lock.revocations", 1, r.strand.forced)
	}
}

// Below follows the lock actor of a hold that calls share.
func (r *Request) Below() *Request {
	if r == nil {
		return nil
	}
	return &Request{figures: r.figures, strand: r.strand, below: true}
}

// Handoff gives what HandedOff has noted.
func (r *Request) Handoff() (at Moment, local bool) {
	if r == nil {
		return 0, false
	}
	return r.handedOff, r.local
}

// Grants takes the grant, once.
func (r *Request) Grants() {
	if r == nil || r.stage != waiting {
		return
	}
	f, now := r.figures, time.Now()
	f.add("turnstile.lock.waiting", -1, r.strand.plain)
	f.time("turnstile.lock.acquire.duration", now.Sub(r.since).Seconds(), r.strand.plain)
	f.add("turnstile.lock.grants", 1, r.strand.plain)
	f.add("turnstile.lock.held", 1, r.strand.plain)
	f.holders.Add(1)
	if r.handedOff != 0 {
		how := r.strand.remote
		if r.local {
			how = r.strand.local
		}
		f.time("turnstile.lock.handoff.duration", (now.Sub(origin) - time.Duration(r.handedOff)).Seconds(), how)
	}
	r.stage, r.since = holding, now
}

// Leaves takes the end of the wait or of the hold, once.
func (r *Request) Leaves(why messages.Reason, lost bool) {
	if r == nil {
		return
	}
	f, after := r.figures, time.Since(r.since).Seconds()
	switch r.stage {
	case waiting:
		f.add("turnstile.lock.waiting", -1, r.strand.plain)
		f.time("turnstile.lock.acquire.duration", after, r.strand.because(r.strand.failed, metering.KeyErrorType, why))
	case holding:
		how := r.strand.ended(why)
		f.add("turnstile.lock.held", -1, r.strand.plain)
		f.holders.Add(-1)
		f.time("turnstile.lock.hold.duration", after, how)
		if lost {
			f.add("turnstile.lock.losses", 1, how)
		}
	}
	r.stage = over
}

// Request begins to follow a request; nil without figures. The error is a panic of the function
// that makes labels, which must not look like a fault of the lock.
func (f *Figures) Request(mode messages.Mode, path string) (r *Request, err error) {
	if f == nil {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("turnstile: WithMeterLabels: the function panicked for %s: %v", path, p)
		}
	}()
	return &Request{figures: f, strand: f.strand(mode, path)}, nil
}

func (f *Figures) strand(mode messages.Mode, path string) *strand {
	key := strandKey{mode: mode}
	var labels []attribute.KeyValue
	if f.labels != nil {
		set := attribute.NewSet(f.labels(path)...)
		labels, key.labels = set.ToSlice(), set.Equivalent()
	}
	if s, made := f.strands.Load(key); made {
		return s.(*strand)
	}
	s, known := f.strands.LoadOrStore(key, newStrand(mode, labels))
	if !known {
		f.begin(s.(*strand))
	}
	return s.(*strand)
}

// begin exports the counts of rare events as zero before they happen: otherwise an alert on an
// increase would miss the first.
func (f *Figures) begin(s *strand) {
	f.add("turnstile.lock.grants", 0, s.plain)
	for _, kind := range []with{s.asked, s.forced} {
		f.add("turnstile.lock.revocations", 0, kind)
	}
	for _, why := range lossesBy {
		f.add("turnstile.lock.losses", 0, s.ended(why))
	}
}

type strand struct {
	plain         with
	local, remote with
	asked, forced with
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

func (s *strand) ended(why messages.Reason) with { return s.because(s.ends, metering.KeyReason, why) }

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

// lossesBy are the usual reasons for which locks are lost; others come where the servers' ACLs are
// changed under a holder.
var lossesBy = []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver, messages.ReasonNodeDeleted,
	messages.ReasonSessionClosed}

func causeOf(ev *machine.Event) cause {
	switch ev.Kind {
	case machine.Disconnected:
		return disconnected
	case machine.Silent:
		return silent
	case machine.Unknown:
		return unknownOutcome
	case machine.NodeGone:
		return nodeGone
	case machine.Listed:
		if ev.Missing {
			return notListed
		}
		return lateGrant
	case machine.Created:
		return lateGrant
	}
	return otherCause
}
