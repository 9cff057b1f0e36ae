package relay

import "github.com/turnstile-locks/turnstile/messages"

// late ends the hold of a request whose lease has run out, or whose grace period is over. It comes
// before anything else: a process that was paused looks at the clock first.
func (r *Requester) late(now Instant) ([]Output, bool) {
	switch {
	case r.stage != held:
		return nil, false
	case r.hold.grace != 0 && now >= r.hold.grace && r.hold.deadline >= r.hold.grace:
		return r.forced(now), true
	case now >= r.hold.deadline:
		return r.LeaseOver(now), true
	}
	return nil, false
}

// forced gives the lock back by force. The gateway does not do it sooner, for it cannot know that
// we do.
func (r *Requester) forced(now Instant) []Output {
	r.stage, r.ordered.what, r.ordered.why, r.ordered.at = after, Cancel, messages.ReasonRevoked, now
	out := r.move(messages.StateReleasing, "GraceOver", messages.ReasonRevoked)
	out = append(out, EndLease{}, Say{Notice: &messages.Revoked{Grant: r.grant}})
	return append(out, r.send(now)...)
}

// LeaseOver ends the hold of a request whose lease clock has a gap that no promise accounts for: the
// process was paused between a look at the clock and an extension.
func (r *Requester) LeaseOver(now Instant) []Output {
	if r.stage != held {
		return nil
	}
	return r.lose(messages.ReasonLeaseOver, "the gateway has not renewed it", "LeaseOver")
}
