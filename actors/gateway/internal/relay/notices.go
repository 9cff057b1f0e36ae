package relay

import "github.com/turnstile-locks/turnstile/messages"

func reasonOf(notice any) messages.Reason {
	switch n := notice.(type) {
	case *messages.Released:
		return n.Reason
	case *messages.Lost:
		return n.Reason
	case *messages.Cancelled:
		return n.Reason
	case *messages.Failed:
		return n.Reason
	}
	return messages.ReasonNone
}

// closed is the detail of an end that comes of the end of a gateway.
const closed = "the gateway is closed"

// here gives a reason that a gateway tells as it is told here: that its session was closed would
// mean here that this program has closed its own side, after which nothing is to be tried again.
func here(why messages.Reason) messages.Reason {
	if why == messages.ReasonSessionClosed {
		return messages.ReasonUnreachable
	}
	return why
}

// abroad gives an end that a gateway tells as it is told here.
func abroad(notice any) any {
	if reasonOf(notice) != messages.ReasonSessionClosed {
		return notice
	}
	switch n := notice.(type) {
	case *messages.Lost:
		return &messages.Lost{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: closed}
	case *messages.Cancelled:
		return &messages.Cancelled{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: n.Detail}
	case *messages.Failed:
		return &messages.Failed{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: closed}
	}
	return notice
}
