package actors

import (
	"fmt"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// A request that looks for deadlocks does so while it waits, every so often. When it is part of one, and the youngest
// of those in it that look for them, it gives up: so that one of them does, and not all at once.

// lookOut asks the session whether a waiting contender is to give up. lookedOut answers it.
type (
	lookOut struct {
		root string
		node string // of the contender, with its path
	}
	lookedOut struct {
		node     string
		deadlock *messages.Deadlock // that it is to give up for; nil for none
	}
)

// lookOutDue says that it is time to look.
type lookOutDue struct{}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*lookedOut) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*lookOutDue) IgnoreDeadLetterLogging() {}

type lookOutTask struct{ lookOut }

func (t lookOutTask) check() error { return nil } // CheckAcquire has

func (t lookOutTask) refuse(messages.Refusal) any { return &lookedOut{node: t.node} }

func (t lookOutTask) answer(conn *zkconn.Conn) (any, error) { return suspectDeadlocks(conn, t.root, t) }

func (t lookOutTask) found(all []messages.Deadlock) any {
	for _, d := range all {
		if c, some := d.Youngest(); some && c.At() == t.node {
			return &lookedOut{node: t.node, deadlock: &d}
		}
	}
	return &lookedOut{node: t.node}
}

// lookOut sets the timer of the next look when the request begins to wait, and stops it when it waits no more.
func (l *lock) lookOut(ctx actor.Context, waiting bool) {
	if l.want.Deadlocks.Every == 0 || waiting == (l.lookouts != nil) {
		return
	}
	if !waiting {
		l.lookouts.Stop()
		l.lookouts = nil
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	l.lookouts = time.AfterFunc(l.want.Deadlocks.Every, func() { root.Send(self, &lookOutDue{}) })
}

// look asks the session, unless the request has gone on meanwhile.
func (l *lock) look(ctx actor.Context) {
	if l.waits() {
		ctx.Request(l.session.pid, &lookOut{root: l.want.Deadlocks.Root, node: l.spec.at(l.m.Node)})
	}
}

// looked takes the answer.
func (l *lock) looked(ctx actor.Context, answer *lookedOut) {
	switch {
	case !l.waits():
	case answer.deadlock == nil || answer.node != l.spec.at(l.m.Node):
		l.lookouts.Reset(l.want.Deadlocks.Every)
	default:
		l.report(ctx, &messages.Deadlocked{Grant: l.grant(ctx), Deadlock: *answer.deadlock})
		l.step(ctx, machine.Event{Kind: machine.Cancel, Reason: messages.ReasonDeadlock})
	}
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
	if err := checkRoot(d.Root); err != nil {
		return fmt.Sprintf("deadlocks are to be looked for below %q: %v", d.Root, err)
	}
	if d.Root != "/" && want.Path != d.Root && !strings.HasPrefix(want.Path, d.Root+"/") {
		return fmt.Sprintf("deadlocks are to be looked for below %s, where %s is not", d.Root, want.Path)
	}
	return ""
}
