package actors

import (
	"fmt"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
)

// A request that looks for deadlocks probes for them while it waits, every so often. When it is
// part of one, and the youngest of those in it that look, it gives up. So one of them does, and not
// all at once.

// probeDue says that it is time for a deadlock probe.
type probeDue struct{ mailbox.Quiet }

// setProbe starts the timer of the next deadlock probe when the request begins to wait, and stops
// it when it waits no more.
func (l *lock) setProbe(ctx actor.Context, waiting bool) {
	if l.want.Deadlocks.Every == 0 || waiting == (l.probes != nil) {
		return
	}
	if !waiting {
		l.probes.Stop()
		l.probes = nil
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	l.probes = time.AfterFunc(l.want.Deadlocks.Every, func() { root.Send(self, &probeDue{}) })
}

// probe asks the session, unless the request has gone on meanwhile.
func (l *lock) probe(ctx actor.Context) {
	if l.waits() {
		ctx.Request(l.session.pid, &inspect.DeadlockProbe{Root: l.want.Deadlocks.Root, Node: l.contender()})
	}
}

// contender names the request for a deadlock probe: by its node, or by its GUID where it waits in a cohort without one.
func (l *lock) contender() string {
	if l.m.Node == "" {
		return l.spec.GUID
	}
	return l.spec.At(l.m.Node)
}

// probed takes the answer, and tells whether the request gives up for it.
func (l *lock) probed(ctx actor.Context, answer *inspect.DeadlockProbed) (givesUp bool) {
	switch {
	case !l.waits():
	case answer.Deadlock == nil || answer.Node != l.contender():
		l.probes.Reset(l.want.Deadlocks.Every)
	default:
		l.report(ctx, &messages.Deadlocked{Grant: l.grant(ctx), Deadlock: *answer.Deadlock})
		return true
	}
	return false
}

// waits tells whether the request is in the queue and does not hold.
func (l *lock) waits() bool {
	return l.m.State == messages.StateWatching || l.m.State == messages.StateListing
}

func checkDetection(want messages.Acquire) string {
	d := want.Deadlocks
	switch {
	case d == messages.Detection{}:
		return ""
	case d.Every <= 0:
		return fmt.Sprintf("deadlocks are to be looked for every %v", d.Every)
	case want.Mode == messages.Contest:
		return "those who wait for a contest leave no trace by which a deadlock could be found"
	}
	if err := inspect.CheckRoot(d.Root); err != nil {
		return fmt.Sprintf("deadlocks are to be looked for below %q: %v", d.Root, err)
	}
	if want.Path != d.Root && !strings.HasPrefix(want.Path, strings.TrimSuffix(d.Root, "/")+"/") {
		return fmt.Sprintf("deadlocks are to be looked for below %s, where %s is not", d.Root, want.Path)
	}
	return ""
}
