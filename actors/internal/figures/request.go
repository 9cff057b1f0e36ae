package figures

import (
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// Request follows one request, of a lock actor or a call. A nil Request follows nothing.
type Request struct {
	*strand
	stage   stage
	since   time.Time
	handoff Handoff // zero while the one before is not gone
	asked   bool    // somebody asks for the lock
}

type stage uint8

const (
	below stage = iota // only recoveries are counted; calls count the rest
	waiting
	holding
	over
)

// HandedOff notes when the earlier holder was gone, if that is known.
func (r *Request) HandedOff(was Handoff) {
	if r != nil && was.At != 0 {
		r.handoff = was
	}
}

// Step takes the machine before and after an event.
func (r *Request) Step(before, after *machine.Machine, ev *machine.Event) {
	if r == nil || after.State == before.State {
		return
	}
	switch to := after.State; {
	case to == messages.StateWatching:
		r.handoff = Handoff{}
	case to == messages.StateRecovering:
		r.handoff = Handoff{}
		r.measure("turnstile.lock.recoveries", 1, metering.KeyCause.String(causeOf(ev)))
	case to.Holding():
		r.Grants()
	case to == messages.StateReleasing || to.Terminal():
		r.Leaves(after.Reason, to == messages.StateLost)
	}
}

// Asked notes that somebody asks for the lock.
func (r *Request) Asked() {
	if r != nil && r.stage == holding && !r.asked {
		r.asked = true
		r.measure("turnstile.lock.revocations", 1, metering.KeyRevocation.String(metering.RevocationAsked))
	}
}

// Forced notes that the grace is over.
func (r *Request) Forced() {
	if r != nil && r.stage != below {
		r.measure("turnstile.lock.revocations", 1, metering.KeyRevocation.String(metering.RevocationForced))
	}
}

// Below follows the lock actor of a hold that calls share.
func (r *Request) Below() *Request {
	if r == nil {
		return nil
	}
	return &Request{strand: r.strand}
}

// Handoff gives what HandedOff has noted.
func (r *Request) Handoff() (was Handoff) {
	if r != nil {
		was = r.handoff
	}
	return was
}

// Grants takes the grant, once.
func (r *Request) Grants() {
	if r == nil || r.stage != waiting {
		return
	}
	now := time.Now()
	r.measure("turnstile.lock.waiting", -1)
	r.measure("turnstile.lock.acquire.duration", now.Sub(r.since).Seconds())
	r.measure("turnstile.lock.grants", 1)
	r.measure("turnstile.lock.held", 1)
	r.figures.holders.Add(1)
	if r.handoff.At != 0 {
		from := metering.HandoffRemote
		if r.handoff.Local {
			from = metering.HandoffLocal
		}
		took := now.Sub(origin) - time.Duration(r.handoff.At)
		r.measure("turnstile.lock.handoff.duration", took.Seconds(), metering.KeyHandoff.String(from))
	}
	r.stage, r.since = holding, now
}

// Leaves takes the end of the wait or of the hold, once.
func (r *Request) Leaves(why messages.Reason, lost bool) {
	if r == nil || r.stage == below {
		return
	}
	after, word := time.Since(r.since).Seconds(), metering.Reason(why)
	switch r.stage {
	case waiting:
		r.measure("turnstile.lock.waiting", -1)
		r.measure("turnstile.lock.acquire.duration", after, metering.KeyErrorType.String(word))
	case holding:
		r.measure("turnstile.lock.held", -1)
		r.figures.holders.Add(-1)
		r.measure("turnstile.lock.hold.duration", after, metering.KeyReason.String(word))
		if lost {
			r.measure("turnstile.lock.losses", 1, metering.KeyReason.String(word))
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
	r = &Request{strand: f.strand(mode, path), stage: waiting, since: time.Now()}
	r.measure("turnstile.lock.waiting", 1)
	return r, nil
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
	s, known := f.strands.LoadOrStore(key, f.newStrand(append(labels, metering.KeyMode.String(mode.String()))...))
	if !known {
		s.(*strand).begin()
	}
	return s.(*strand)
}

// begin exports the counts of rare events as zero before they happen: otherwise an alert on an
// increase would miss the first.
func (s *strand) begin() {
	s.measure("turnstile.lock.grants", 0)
	for _, kind := range []string{metering.RevocationAsked, metering.RevocationForced} {
		s.measure("turnstile.lock.revocations", 0, metering.KeyRevocation.String(kind))
	}
	for _, why := range lossesBy {
		s.measure("turnstile.lock.losses", 0, metering.KeyReason.String(metering.Reason(why)))
	}
}

// lossesBy are the usual reasons for which locks are lost; others come where the servers' ACLs are
// changed under a holder.
var lossesBy = []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver, messages.ReasonNodeDeleted,
	messages.ReasonSessionClosed}

// causeOf says why a request went to find out where it stands.
func causeOf(ev *machine.Event) string {
	switch ev.Kind {
	case machine.Disconnected:
		return metering.CauseDisconnected
	case machine.Silent:
		return metering.CauseSilent
	case machine.Unknown:
		return metering.CauseUnknownOutcome
	case machine.NodeGone:
		return metering.CauseNodeGone
	case machine.Listed:
		if ev.Missing {
			return metering.CauseNotListed
		}
		return metering.CauseLateGrant
	case machine.Created:
		return metering.CauseLateGrant
	}
	return metering.CauseOther
}
