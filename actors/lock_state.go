package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// lock is the lock actor: a shell around the machine.
type lock struct {
	audience
	session  *Session
	want     *messages.Acquire // is not changed
	asker    string            // the node that asks over a gateway; "" where it is this one
	spec     *coordinator.Spec
	request  coordinator.RequestID // its name for the session; zero while that does not know of it
	m        machine.Machine
	info     *sessionInfo // that we last heard of
	held     *sessionInfo // that granted the lock
	run      uint64       // of that lease, when it did
	listener Listener
	trouble  string           // what keeps it from being carried out though there are servers; "" for nothing
	grace    time.Time        // when the grace period ends
	timers   [4]*time.Timer   // by alarmOf
	as       string           // who the node says has asked, where that is another
	polled   bool             // it asks anew because it has waited for long, without a node
	waited   uint64           // the operation in which it has
	failures uint32           // to find out, since recovery began, whether our node is there
	probes   *time.Timer      // until the next deadlock probe; nil while it does not wait
	figures  *figures.Request // nil where nothing is counted
}

// logged is what every record about a request has, and more of it.
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

// alarmAfter sends an event to this actor once d has passed. That of an operation carries its number,
// so that a stale one changes nothing.
func (l *lock) alarmAfter(ctx actor.Context, d time.Duration, kind machine.Kind, op uint64) {
	l.startTimer(ctx, d, machine.Event{Kind: kind, Op: op})
}

// startTimer is alarmAfter with the whole event.
func (l *lock) startTimer(ctx actor.Context, d time.Duration, ev machine.Event) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	timer := &l.timers[alarmOf[ev.Kind]]
	if *timer != nil {
		(*timer).Stop() // a new operation has voided it
	}
	*timer = time.AfterFunc(d, func() { root.Send(self, &alarm{event: ev}) })
}

// alarmOf gives the timer of an event: 0 is that of all others, of which one runs at a time.
var alarmOf = map[machine.Kind]int{machine.Timeout: 1, machine.GraceOver: 2, machine.Release: 3}
