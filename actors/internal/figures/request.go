package figures

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Request follows one lock request. It belongs to a lock actor. A nil Request follows nothing: all its methods may be
// called.
type Request struct {
	figures *Figures
	strand  *strand
	stage   stage
	since   time.Time // when the stage began
	handed  Moment    // when the one before was gone; zero while it is not
	local   bool      // it was of the same session
}

// stage is how far a request has come.
type stage uint8

const (
	unasked stage = iota
	waits
	holds
	over
)

// Handed notes when the one before gave the lock back, or was heard to be gone; local tells whether it was of the same
// session. A zero time notes nothing.
func (r *Request) Handed(at Moment, local bool) {
	if r != nil && at != 0 {
		r.handed, r.local = at, local
	}
}

// Step takes what an event has changed: the machine before and after.
func (r *Request) Step(before, after *machine.Machine, ev *machine.Event) {
	if r == nil || after.State == before.State {
		return
	}
	switch to := after.State; {
	case to == messages.StateCreating && r.stage == unasked:
		r.stage, r.since = waits, time.Now()
		r.figures.waiting.Add(always, 1, r.strand.plain.add...)
	case to == messages.StateWatching:
		r.handed = 0 // there is another before us
	case to == messages.StateRecovering:
		r.handed = 0
		r.figures.recoveries.Add(always, 1, r.strand.recovered[causeOf(ev)].add...)
	case to.Holding():
		r.granted()
	case to == messages.StateReleasing || to.Terminal():
		r.leave(after.Reason, to == messages.StateLost)
	}
}

// granted takes the grant; nothing when the lock was held already.
func (r *Request) granted() {
	if r.stage != waits {
		return
	}
	f, now := r.figures, time.Now()
	f.waiting.Add(always, -1, r.strand.plain.add...)
	f.acquire.Record(always, now.Sub(r.since).Seconds(), r.strand.plain.record...)
	f.grants.Add(always, 1, r.strand.plain.add...)
	f.held.Add(always, 1, r.strand.plain.add...)
	f.holders.Add(1)
	if r.handed != 0 {
		how := r.strand.remote.record
		if r.local {
			how = r.strand.local.record
		}
		f.handoff.Record(always, (now.Sub(origin) - time.Duration(r.handed)).Seconds(), how...)
	}
	r.stage, r.since = holds, now
}

// leave takes the end of the waiting or of the hold; nothing when that has been.
func (r *Request) leave(why messages.Reason, lost bool) {
	f, after := r.figures, time.Since(r.since).Seconds()
	switch r.stage {
	case waits:
		f.waiting.Add(always, -1, r.strand.plain.add...)
		f.acquire.Record(always, after, r.strand.gaveUp(why).record...)
	case holds:
		how := r.strand.ended(why)
		f.held.Add(always, -1, r.strand.plain.add...)
		f.holders.Add(-1)
		f.hold.Record(always, after, how.record...)
		if lost {
			f.losses.Add(always, 1, how.add...)
		}
	}
	r.stage = over
}

// Told takes a notice that was sent to the owner.
func (r *Request) Told(notice any) {
	if r == nil {
		return
	}
	switch notice.(type) {
	case *messages.RevokeRequested:
		r.figures.revocations.Add(always, 1, r.strand.asked.add...)
	case *messages.Revoked:
		r.figures.revocations.Add(always, 1, r.strand.forced.add...)
	}
}

// Stopped takes the end of a lock actor that did not come to the end of its request.
func (r *Request) Stopped() {
	if r != nil {
		r.leave(messages.ReasonStopped, false)
	}
}
