package figures

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// lossesBy are the reasons for which locks are lost; there are others, where the servers' ACLs are changed under a
// holder.
var lossesBy = []messages.Reason{messages.ReasonSessionExpired, messages.ReasonLeaseOver, messages.ReasonNodeDeleted,
	messages.ReasonSessionClosed}

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

var causeWords = [causes]string{otherCause: metering.CauseOther, disconnected: metering.CauseDisconnected,
	silent: metering.CauseSilent, unknownOutcome: metering.CauseUnknownOutcome, nodeGone: metering.CauseNodeGone,
	notListed: metering.CauseNotListed, lateGrant: metering.CauseLateGrant, expired: metering.CauseExpired}

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
