package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// ownerLeft takes it that the owner has ended, or that its node is out of reach. In the latter case
// the owner may rely on the lock for as long as it was promised: the lease as it stands now is the
// most that any notice has told.
func (l *lock) ownerLeft(ctx actor.Context, msg *actor.Terminated) {
	release := machine.Event{Kind: machine.Release, Reason: messages.ReasonOwnerGone}
	switch {
	case ownerEnded(msg):
		l.step(ctx, release)
	case !sameNode(ctx.ActorSystem(), msg.Who) && l.timers[alarmOf[machine.Release]] == nil: // else it runs already
		l.startTimer(ctx, l.ownerPatience(), release)
	}
}

// ownerPatience is for how long an owner that is out of reach is waited for.
func (l *lock) ownerPatience() time.Duration {
	if l.m.Holding() {
		return time.Until(l.held.clock.Deadline())
	}
	if l.info != nil {
		return l.info.timeout
	}
	return l.session.Timeout()
}
