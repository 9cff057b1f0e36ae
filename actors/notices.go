package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// notice makes the notice that a Tell effect sends; nil for other effects.
func (l *lock) notice(ctx actor.Context, do machine.Do) any {
	grant := l.grant(ctx)
	switch do {
	case machine.TellHeld:
		return &messages.Held{Grant: grant, Session: l.held.session, Epoch: l.held.epoch, Run: l.run,
			Until: l.held.clock.Deadline(), As: l.as}
	case machine.TellSuspended:
		return &messages.Suspended{Grant: grant, Until: l.held.clock.Deadline()}
	case machine.TellResumed:
		return &messages.Resumed{Grant: grant, Until: l.held.clock.Deadline()}
	case machine.TellRevokeRequested:
		if l.want.Grace > 0 {
			l.grace = time.Now().Add(l.want.Grace)
		}
		return &messages.RevokeRequested{Grant: grant, Deadline: l.grace}
	case machine.TellRevoked:
		return &messages.Revoked{Grant: grant}
	case machine.TellReleased:
		return &messages.Released{Grant: grant, Reason: l.m.Reason}
	case machine.TellLost:
		return &messages.Lost{Grant: grant, Reason: l.m.Reason, Detail: l.m.Detail}
	case machine.TellCancelled:
		return &messages.Cancelled{Grant: grant, Reason: l.m.Reason, Detail: l.trouble}
	case machine.TellFailed:
		return &messages.Failed{Grant: grant, Reason: l.m.Reason, Detail: l.m.Detail}
	}
	return nil
}

// report sends a notice to the parent, the observers and the listener.
func (l *lock) report(ctx actor.Context, notice any) {
	l.figures.Told(notice)
	if lost, ok := notice.(*messages.Lost); ok {
		l.session.opts.log.Warn("lock lost", l.logged(logkeys.Reason, string(lost.Reason))...)
	}
	l.tell(ctx, notice)
	if l.listener != nil {
		l.listener.Hear(ctx.Self(), notice)
	}
}
