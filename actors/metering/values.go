package metering

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/turnstile-locks/turnstile/messages"
)

// Values lists what an attribute can be, in order: what dashboards and alerts may select by. It gives none for a key that
// is not of this package.
func Values(of attribute.Key) []string {
	var all []string
	switch of {
	case KeyMode:
		for m := messages.Exclusive; m.Known(); m++ {
			all = append(all, m.String())
		}
	case KeyReason, KeyErrorType:
		all = append(all, other)
		for _, word := range words {
			all = append(all, word)
		}
	case KeyHandoff:
		all = []string{HandoffLocal, HandoffRemote}
	case KeyRevocation:
		all = []string{RevocationAsked, RevocationForced}
	case KeyCause:
		all = []string{CauseDisconnected, CauseSilent, CauseUnknownOutcome, CauseNodeGone, CauseNotListed, CauseLateGrant,
			CauseExpired, CauseOther}
	case KeyState:
		all = []string{StateConnecting, StateConnected, StateDisconnected}
	}
	slices.Sort(all)
	return all
}
