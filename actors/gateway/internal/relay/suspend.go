package relay

import "github.com/turnstile-locks/turnstile/messages"

// A hold is suspended while the gateway is silent, or its lock actor has told Suspended. The owner is
// told Suspended when that begins and Resumed when both are over. What it has asked for is void by
// then: see the package's doc.

// suspended tells the owner of a hold that it is suspended, unless it knows.
func (r *Requester) suspended() []Output {
	if r.stage != held || r.hold.suspended {
		return nil
	}
	r.hold.suspended, r.hold.asks = true, Asks{}
	return []Output{Say{Notice: &messages.Suspended{Grant: r.grant}}}
}

// resumed tells it that the hold is not suspended any more, once that is so, and that its node is
// watched.
func (r *Requester) resumed() []Output {
	if r.stage != held || !r.hold.suspended || r.hold.cut || r.try.silent {
		return nil
	}
	r.hold.suspended = false
	return append([]Output{Say{Notice: &messages.Resumed{Grant: r.grant}}}, r.watched()...)
}

// watched tells the owner of a hold that its node is watched, once that is known.
func (r *Requester) watched() []Output {
	if r.stage != held || r.hold.suspended || r.hold.watched == nil {
		return nil
	}
	watched := *r.hold.watched
	return []Output{Say{Notice: &watched}}
}

// answered takes the answer to an ask, unless that is void, or was asked anew.
func (r *Requester) answered(ev Event) []Output {
	what, _ := answers(ev.Notice)
	if r.stage != held || ev.Answers == 0 || ev.Answers != r.hold.asks[what] {
		return nil
	}
	r.hold.asks[what] = 0
	return []Output{Say{Notice: ev.Notice}}
}
