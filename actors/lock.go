package actors

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

type lock struct {
	audience.Audience
	session  *Session
	want     *messages.Acquire // not changed
	spec     *coordinator.Spec
	request  coordinator.RequestID // zero while the session does not know of it
	m        machine.Machine
	info     *sessionInfo
	held     *sessionInfo // that granted the lock
	term     uint64       // of that lease at the grant
	trouble  string       // what keeps it from being carried out though there are servers; "" for nothing
	grace    time.Time
	timers   [4]*time.Timer
	failures uint32 // to find out, since recovery began, whether our node is there
	probes   *time.Timer
	figures  *figures.Request
}

func (l *lock) logged(more ...any) []any {
	var session int64
	if l.info != nil {
		session = l.info.session
	}
	return append([]any{logkeys.Path, l.want.Path, logkeys.Node, l.m.Node, logkeys.State, l.m.State.String(),
		logkeys.Session, logkeys.SessionID(session), logkeys.Token, int64(l.m.Token)}, more...)
}

func (l *lock) grant(ctx actor.Context) messages.Grant {
	return messages.Grant{Path: l.want.Path, Node: l.m.Node, Token: l.m.Token, Actor: messages.IDOf(ctx.Self())}
}

func (l *lock) notice(ctx actor.Context, do machine.Do, on *machine.Event) any {
	grant := l.grant(ctx)
	switch do {
	case machine.TellHeld:
		return &messages.Held{Grant: grant, Session: l.held.session, Epoch: l.held.epoch, Term: l.term,
			Until: l.held.clock.Deadline(), Places: l.m.Places}
	case machine.TellWaiting:
		return &messages.Waiting{Grant: grant, Before: on.Before}
	case machine.TellWatched:
		return &messages.Watched{Grant: grant, Readable: on.Kind == machine.OwnRead}
	case machine.TellContended:
		return &messages.Contended{Grant: grant}
	case machine.TellChecked:
		return &messages.Checked{Grant: grant}
	case machine.TellSuspended:
		return &messages.Suspended{Grant: grant, Until: l.held.clock.Deadline()}
	case machine.TellResumed:
		return &messages.Resumed{Grant: grant, Until: l.held.clock.Deadline()}
	case machine.TellRevokeRequested:
		if l.want.Grace > 0 {
			l.grace = time.Now().Add(l.want.Grace)
		}
		l.figures.Asked()
		return &messages.RevokeRequested{Grant: grant, Deadline: l.grace}
	case machine.TellRevoked:
		l.figures.Forced()
		return &messages.Revoked{Grant: grant}
	case machine.TellReleased:
		return &messages.Released{Grant: grant, Reason: l.m.Reason}
	case machine.TellLost:
		l.session.opts.log.Warn("lock lost", l.logged(logkeys.Reason, string(l.m.Reason))...)
		return &messages.Lost{Grant: grant, Reason: l.m.Reason, Detail: l.m.Detail}
	case machine.TellCancelled:
		return &messages.Cancelled{Grant: grant, Reason: l.m.Reason, Detail: l.trouble}
	case machine.TellFailed:
		return &messages.Failed{Grant: grant, Reason: l.m.Reason, Detail: l.m.Detail}
	}
	return nil
}

// record tells of a change of state. row is nil where the actor was stopped from outside.
func (l *lock) record(ctx actor.Context, from, to messages.State, row *machine.Row, why messages.Reason) {
	debug := l.session.opts.log.Enabled(context.Background(), slog.LevelDebug)
	if !debug && len(l.Observers) == 0 {
		if l.Listener != nil {
			l.Listener.Moved(to, l.m.Node)
		}
		return
	}
	t := l.transition(ctx, to)
	t.From, t.On, t.Do, t.Reason = from, "Stopped", "session cleans up", why
	if row != nil {
		t.On, t.If, t.Do = row.On.String(), row.If.Name, row.Do.Name
	}
	if debug {
		l.session.opts.log.Debug("lock", l.logged(logkeys.From, from.String(), logkeys.Event, t.On, logkeys.Reason, string(why))...)
	}
	l.Record(ctx, t)
}

func (l *lock) transition(ctx actor.Context, to messages.State) *messages.Transition {
	t := &messages.Transition{Grant: l.grant(ctx), To: to, At: time.Now()}
	if l.info != nil {
		t.Session = l.info.session
	}
	return t
}

type predecessor coordinator.Predecessor

func (p *predecessor) Contender(path string) messages.Contender {
	c := messages.Contender{Path: path, Node: p.Node, Asked: queue.IsRevokeRequest(p.Data)}
	o, known := queue.ParseOwner(p.Data)
	if !known && p.Spec != nil {
		o, known = carrier.OwnerOf(p.Spec), true
	}
	if known {
		c.Library = messages.LibraryTurnstile
		o.Describe(&c)
	}
	if p.Persistent {
		c.Library = messages.LibraryNone
	}
	return c
}

type troubled struct {
	mailbox.Quiet
	text string
}

// fireAfter sends an event to this actor once d has passed. op makes a stale one change nothing.
func (l *lock) fireAfter(ctx actor.Context, d time.Duration, kind machine.Kind, op uint64) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	timer := &l.timers[timerOf[kind]]
	if *timer != nil {
		(*timer).Stop() // a new operation has voided it
	}
	*timer = time.AfterFunc(d, func() { root.Send(self, &lockTimerFired{kind: kind, op: op}) })
}

// timerOf gives the timer of an event. All others share timer 0: one of them runs at a time.
var timerOf = map[machine.Kind]int{machine.Timeout: 1, machine.GraceOver: 2, machine.Release: 3}

// A waiting request with deadlock detection probes at intervals. In a deadlock, only the youngest
// member that probes gives up.

type probeDue struct{ mailbox.Quiet }

func (l *lock) setProbe(ctx actor.Context, waiting bool) {
	if waiting == (l.probes != nil) {
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

func (l *lock) probe(ctx actor.Context) {
	if l.isWaiting() {
		ctx.Request(l.session.pid, &inspect.DeadlockProbe{Root: l.want.Deadlocks.Root, Node: l.contender()})
	}
}

// contender names the request for a deadlock probe: by its node, or by its ID where it has none.
func (l *lock) contender() string {
	if l.m.Node == "" {
		return l.spec.ID
	}
	return l.spec.At(l.m.Node)
}

func (l *lock) probed(ctx actor.Context, answer *inspect.DeadlockProbed) (givesUp bool) {
	switch {
	case !l.isWaiting():
	case answer.Deadlock == nil || answer.Node != l.contender():
		l.probes.Reset(l.want.Deadlocks.Every)
	default:
		l.Tell(ctx, &messages.Deadlocked{Grant: l.grant(ctx), Deadlock: *answer.Deadlock})
		return true
	}
	return false
}

func (l *lock) isWaiting() bool {
	return l.m.State == messages.StateWatching || l.m.State == messages.StateListing
}
