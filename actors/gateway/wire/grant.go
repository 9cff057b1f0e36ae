package wire

import "github.com/turnstile-locks/turnstile/messages"

// GrantIn gives the grant in a notice or a transition, of which a pointer is given, to read or to
// change; nil where there is none.
func GrantIn(notice any) *messages.Grant {
	switch n := notice.(type) {
	case *messages.Transition:
		return &n.Grant
	case *messages.Held:
		return &n.Grant
	case *messages.Suspended:
		return &n.Grant
	case *messages.Resumed:
		return &n.Grant
	case *messages.RevokeRequested:
		return &n.Grant
	case *messages.Revoked:
		return &n.Grant
	case *messages.Deadlocked:
		return &n.Grant
	case *messages.Released:
		return &n.Grant
	case *messages.Lost:
		return &n.Grant
	case *messages.Cancelled:
		return &n.Grant
	case *messages.Failed:
		return &n.Grant
	}
	return nil
}
