package metering

import "github.com/turnstile-locks/turnstile/messages"

// words are reasons as attributes have them. A program that alerts on one relies on it.
var words = map[messages.Reason]string{
	messages.ReasonBadInput:          "bad_input",
	messages.ReasonReleased:          "released",
	messages.ReasonOwnerGone:         "owner_gone",
	messages.ReasonStopped:           "stopped",
	messages.ReasonCancelled:         "cancelled",
	messages.ReasonTimeout:           "timeout",
	messages.ReasonNotAcquired:       "not_acquired",
	messages.ReasonRevoked:           "revoked",
	messages.ReasonSessionExpired:    "session_expired",
	messages.ReasonSessionClosed:     "session_closed",
	messages.ReasonLeaseOver:         "lease_over",
	messages.ReasonNodeDeleted:       "node_deleted",
	messages.ReasonNoAuth:            "no_auth",
	messages.ReasonRefused:           "refused",
	messages.ReasonSequenceExhausted: "sequence_exhausted",
	messages.ReasonReentry:           "reentry",
	messages.ReasonUpgrade:           "upgrade",
	messages.ReasonHoldGone:          "hold_gone",
	messages.ReasonPermits:           "permits",
	messages.ReasonDeadlock:          "deadlock",
	messages.ReasonUnreachable:       "unreachable",
	messages.ReasonGatewayFull:       "gateway_full",
	messages.ReasonQuota:             "quota",
	messages.ReasonLocalSession:      "local_session",
	messages.ReasonSessionFull:       "session_full",
	messages.ReasonZxidOutOfRange:    "zxid_out_of_range",
}

// other is the word for what has none, as the semantic conventions have it.
const other = "_OTHER"

// Reason gives a reason in one word, as the attributes error.type and turnstile.lock.reason have it; "_OTHER" for one
// that is not of package messages.
func Reason(why messages.Reason) string {
	if word, known := words[why]; known {
		return word
	}
	return other
}
