package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// alarmAfter sends an event to this actor once d has passed. Those of an operation carry its number,
// so that one that comes too late changes nothing.
func (l *lock) alarmAfter(ctx actor.Context, d time.Duration, kind machine.Kind, op uint64) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	timer := &l.timers[alarmOf(kind)]
	if *timer != nil {
		(*timer).Stop() // a new operation has voided it
	}
	*timer = time.AfterFunc(d, func() { root.Send(self, &alarm{machine.Event{Kind: kind, Op: op}}) })
}

// alarmOf gives the timer of an event.
func alarmOf(kind machine.Kind) int {
	switch kind {
	case machine.Timeout:
		return 1
	case machine.GraceOver:
		return 2
	default:
		return 0
	}
}
