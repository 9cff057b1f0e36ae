package metering

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

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
	messages.ReasonZxidOutOfRange:    "zxid_out_of_range",
}

// lossesBy are the reasons for which locks are lost; there are others, where the servers' ACLs are changed under a holder.
var lossesBy = []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver, messages.ReasonNodeDeleted,
	messages.ReasonSessionClosed}

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

// cause says in one word why a request went to find out where it stands.
type cause uint8

const (
	otherCause cause = iota
	disconnected
	silent
	unknownOutcome
	nodeGone
	notListed
	lateGrant
	expired
	causes int = iota
)

var causeWords = [causes]string{"other", "disconnected", "silent", "unknown_outcome", "node_gone", "not_listed", "late_grant", "expired"}

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
	case machine.Created, machine.Joined:
		return lateGrant
	}
	return otherCause
}
