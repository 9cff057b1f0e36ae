package actors

import (
	"cmp"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// NewLock makes the props of a lock actor, from a *Session or another [Provider]. Spawned, it
// acquires, reports to its parent and its observers with the notices of package messages, takes
// that package's commands, and stops when the request has ended. No provider, or a nil session,
// panics.
//
// It may be stopped at any time: the session then deletes its node. A restart by a supervisor, as
// with AllForOne, ends it, too; its parent is told Terminated. Bad input, also a parent, owner or
// observer on another node without WithRemote, is told as Failed before anything is sent.
//
// # Owners that are restarted
//
// When an owner's supervisor restarts it, protoactor first stops its child lock actors, and the
// session deletes their nodes. But earlier notices stay in the owner's mailbox: a Held may be for a
// lock that somebody else has by then. So such an actor compares ctx.Sender(), or Grant.Actor, with
// the lock actors that it spawned, and answers any other Held with Release. That also gives back
// the lock of an earlier incarnation's lock actor at the root, which WithOwner does not release,
// because a restarted owner has not ended. See the example "restarted".
func NewLock(from Provider, want messages.Acquire, opts ...LockOption) *actor.Props {
	if from == nil {
		panic("turnstile: actors.NewLock: the provider is nil")
	}
	return from.NewLock(want, opts...)
}

// NewLock implements [Provider].
func (s *Session) NewLock(want messages.Acquire, opts ...LockOption) *actor.Props {
	if s == nil {
		panic("turnstile: actors.NewLock: the session is nil")
	}
	box := mailbox.New
	if audience.New(opts).Pack != nil {
		box = mailbox.NewRemote
	}
	return actor.PropsFromProducer(func() actor.Actor {
		return &lock{session: s, m: machine.New(&want), Audience: audience.New(opts)}
	}, actor.WithMailbox(box))
}

// SpawnLock spawns a lock actor at the root with a listener, and perhaps observers: see
// WithObserver. want and observers must not change. It is for many requests: their actors share
// settings.
func (s *Session) SpawnLock(want *messages.Acquire, to Listener, observers []*actor.PID) *actor.PID {
	pid := s.system.Root.Spawn(s.listened)
	s.system.Root.Send(pid, &assignment{want: want, listener: to, observers: observers})
	return pid
}

var unassigned messages.Acquire

// Receive takes one message. A panic ends this lock actor only; the session deletes its node.
func (l *lock) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			ctx.Stop(ctx.Self())
			told.LogPanic(l.session.opts.log, "lock actor panicked", r, l.logged()...)
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		if l.m.Want != &unassigned {
			l.begin(ctx)
		}
	case *assignment:
		l.m, l.Listener, l.Observers = machine.New(msg.want), msg.listener, msg.observers
		l.begin(ctx)
	case *lockEvent:
		l.hear(ctx, msg)
	case *lockTimerFired:
		ev := machine.Event{Kind: msg.kind, Op: msg.op}
		if msg.kind == machine.Release {
			ev = releaseForOwner
		}
		l.step(ctx, ev)
	case *troubled:
		l.trouble = msg.text
		l.Troubled(msg.text)
	case *messages.Release, messages.Release:
		l.step(ctx, machine.Event{Kind: machine.Release})
	case *messages.Cancel:
		l.step(ctx, machine.Event{Kind: machine.Cancel, Reason: msg.Reason})
	case messages.Cancel:
		l.step(ctx, machine.Event{Kind: machine.Cancel, Reason: msg.Reason})
	case *messages.Revoke, messages.Revoke:
		l.step(ctx, machine.Event{Kind: machine.Revoke})
	case *messages.WatchContention, messages.WatchContention:
		l.step(ctx, machine.Event{Kind: machine.WatchContention})
	case *messages.Check, messages.Check:
		l.step(ctx, machine.Event{Kind: machine.Check})
	case *messages.Observe, messages.Observe:
		l.Join(ctx, l.transition(ctx, l.m.State))
	case *probeDue:
		l.probe(ctx)
	case *inspect.DeadlockProbed:
		if l.probed(ctx, msg) {
			l.step(ctx, machine.Event{Kind: machine.Cancel, Reason: messages.ReasonDeadlock})
		}
	case *actor.Terminated: // only the owner is watched, and a parent on another node
		l.ownerGone(ctx, msg)
	case *actor.Stopping:
		l.stop(ctx)
	case *actor.Restarting: // it ends: events of its request must not reach another
		l.stop(ctx)
		ctx.Stop(ctx.Self())
	case *actor.Stopped:
		l.Stopped(ctx, msg)
	}
}

func (l *lock) begin(ctx actor.Context) {
	err := l.Audience.Begin(ctx)
	if of, ok := l.Listener.(interface{ Figures() *figures.Request }); ok {
		l.figures = of.Figures()
	} else if err = cmp.Or(err, CheckAcquire(*l.m.Want)); err == nil {
		l.figures, err = l.session.figures.Request(l.m.Want.Mode, l.m.Want.Path)
	}
	if err != nil {
		l.step(ctx, machine.Event{Kind: machine.Refused, Reason: messages.ReasonBadInput, Detail: err.Error()})
		return
	}
	by := messages.IDOf(cmp.Or(ctx.Parent(), ctx.Self())).Key(ctx.ActorSystem().ID)
	l.spec = coordinator.NewSpec(l.m.Want, uuid.NewString(), by, time.Now())
	l.spec.Requester = l.Requester
	var alive bool
	l.request, alive = l.session.registry.add(ctx.Self())
	l.step(ctx, machine.Event{Kind: machine.Begin})
	if !alive {
		l.step(ctx, machine.Event{Kind: machine.Closed}) // nobody will answer
	}
}

func (l *lock) hear(ctx actor.Context, n *lockEvent) {
	l.info = n.Session.(*sessionInfo)
	l.figures.HandedOff(n.Handoff)
	if n.Predecessor == nil && n.Event.Predecessor != "" {
		n.Predecessor = &coordinator.Predecessor{Node: n.Event.Predecessor}
	}
	if n.Predecessor != nil {
		l.WaitsFor(ctx, l.grant(ctx), (*predecessor)(n.Predecessor), l.isWaiting())
	}
	l.permits = max(l.permits, n.Event.Permits)
	l.step(ctx, n.Event)
}

// step gives one event to the machine and carries out what it decides. A paused process first finds
// here that its lease is over.
func (l *lock) step(ctx actor.Context, ev machine.Event) {
	var term uint64
	if l.info != nil {
		term, ev.Lease = l.info.clock.Term()
	}
	ev.Overdue = l.overdue(term, ev.Lease)
	before := l.m
	effects, row := l.m.Step(ev)
	after := l.m
	if row == nil && len(effects.All()) == 0 {
		if before.Stale(ev) {
			l.session.stale.Add(1)
		}
		return
	}
	if after.State.Holding() && !before.Holding() {
		l.held, l.term = l.info, term
	}
	if after.State != before.State {
		l.failures = 0
		if l.m.Want.Deadlocks.Every > 0 {
			l.setProbe(ctx, l.isWaiting())
		}
		l.figures.Step(&before, &after, &ev)
		l.record(ctx, before.State, after.State, row, after.Reason)
	}
	for _, e := range effects.All() {
		l.perform(ctx, e, ev)
	}
	if after.State.Terminal() {
		ctx.Stop(ctx.Self())
	}
}

// overdue says why the lease of the grant is over; "" while it runs or nothing is held. Where the
// session is over its lease ends at once; the session actor tells why later.
func (l *lock) overdue(term uint64, valid bool) messages.Reason {
	switch {
	case !l.m.Holding(), valid && l.info.clock == l.held.clock && term == l.term:
		return ""
	case l.held.clock.Expired():
		return messages.ReasonSessionExpired
	}
	return messages.ReasonLeaseOver
}

func (l *lock) perform(ctx actor.Context, e machine.Effect, ev machine.Event) {
	switch e.Do {
	case machine.StartPoll:
		l.fireAfter(ctx, l.info.timeout, machine.Poll, e.Op)
	case machine.StartRetry:
		l.failures++
		l.fireAfter(ctx, min(l.info.timeout/10, retry.Unknown.Pause(int(l.failures))), machine.Poll, e.Op)
	case machine.StartTimeout:
		if l.m.Want.Timeout > 0 {
			l.fireAfter(ctx, l.m.Want.Timeout, machine.Timeout, 0)
		}
	case machine.StartGrace:
		if l.m.Want.Grace > 0 {
			l.fireAfter(ctx, time.Until(l.grace), machine.GraceOver, 0)
		}
	case machine.Halt:
		l.session.opts.log.Error("impossible event", l.logged(logkeys.Event, ev.Kind.String())...)
		ctx.Stop(ctx.Self())
	default:
		if notice := l.notice(ctx, e.Do, &ev); notice != nil {
			l.Tell(ctx, notice)
			return
		}
		l.order(ctx, e)
	}
}

func (l *lock) order(ctx actor.Context, e machine.Effect) {
	o := orders.Get().(*order)
	if e.Do == machine.Withdraw {
		l.session.registry.withdraw(l.request)
	}
	*o = order{Order: coordinator.Order{Request: l.request, Spec: l.spec, Effect: e}}
	if l.info != nil {
		o.Epoch = l.info.epoch
	}
	if e.Do == machine.GiveBack {
		o.Moment = l.session.figures.Now()
	}
	ctx.Send(l.session.pid, o)
}

// releaseForOwner gives the lock back because the owner is gone.
var releaseForOwner = machine.Event{Kind: machine.Release, Reason: messages.ReasonOwnerGone}

// ownerGone handles the end of the owner, or the loss of its node: then it may rely on the lock
// until the lease's present end, the most that any notice has told.
func (l *lock) ownerGone(ctx actor.Context, msg *actor.Terminated) {
	switch {
	case audience.OwnerEnded(msg):
		l.step(ctx, releaseForOwner)
	case !audience.SameNode(ctx.ActorSystem(), msg.Who) && l.timers[timerOf[machine.Release]] == nil:
		l.fireAfter(ctx, l.ownerPatience(), machine.Release, 0)
	}
}

func (l *lock) ownerPatience() time.Duration {
	if l.m.Holding() {
		return time.Until(l.held.clock.Deadline())
	}
	if l.info != nil {
		return l.info.timeout
	}
	return l.session.Timeout()
}

func (l *lock) stop(ctx actor.Context) {
	if l.request != 0 {
		l.session.registry.remove(l.request)
		ctx.Send(l.session.pid, lockEnded{request: l.request})
	}
	for _, t := range l.timers {
		if t != nil {
			t.Stop()
		}
	}
	if l.probes != nil {
		l.probes.Stop()
	}
	l.Watched(ctx, func(pid *actor.PID) { mailbox.Unwatch(ctx, pid) })
	if !l.m.State.Terminal() { // stopped from outside: the session hears of it (lockEnded), and deletes the node
		l.figures.Leaves(messages.ReasonStopped, false)
		l.record(ctx, l.m.State, messages.StateReleasing, nil, messages.ReasonStopped)
	}
}
