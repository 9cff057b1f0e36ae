// Package singleton is the actor around term.Machine for an actor that exists once in a cluster. It
// spawns the lock actor of each campaign and the child of each term, gives their events to the
// machine, and carries out its effects. Package term decides, with the policy Singleton.
//
// It knows neither sessions nor lock actors: package actors gives it their functions in [Config].
package singleton

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Config is one singleton.
type Config struct {
	// Path is the lock path.
	Path string
	// Props are the props of the user's actor.
	Props *actor.Props
	// Failures within Within keep this node out for Out.
	Failures    int
	Within, Out time.Duration
	// Buffer is the number of messages that are kept while no child runs.
	Buffer int
	// Wrong is the mistake in the request; nil for none. It ends the singleton at once.
	Wrong error

	// NewLock makes the props of a lock actor with this owner and this listener.
	NewLock func(owner *actor.PID, listener *Campaign) *actor.Props
	// LeaseClock gives the lease clock of a grant, by its messages.Held.Epoch.
	LeaseClock func(epoch uint64) *zkconn.LeaseClock
	// Session provides the locks; nil where they do not come from a session of this process.
	Session Session
	// Timeout gives the session timeout, which bounds the pauses. Nil, or zero, says that it is not known.
	Timeout func() time.Duration
	// NewActivation makes the first message of an incarnation of the child.
	NewActivation func(term *Term, singleton *actor.PID) any
	// SameNode reports whether an actor runs in this actor system.
	SameNode func(system *actor.ActorSystem, pid *actor.PID) bool
}

// Session is the part of an *actors.Session that is needed here: Close waits for the end of the child, and no longer
// than a session timeout.
type Session interface {
	// BeforeClose has Close call a function, and wait for it, unless it is to forget it before.
	BeforeClose(do func()) (forget func())
	// Timeout is the session timeout.
	Timeout() time.Duration
}

// singletonActor is the actor: it carries out the effects of the machine.
type singletonActor struct {
	Config
	m        term.Machine
	clock    time.Time // that Event.At counts from
	pauses   *term.Pauses
	pause    *time.Timer // until the next; nil before the first
	pausing  *pauseOver  // the message of the newest pause, which alone counts
	campaign *Campaign   // the newest; nil before the first
	lock     *actor.PID  // its lock actor
	term     *Term       // of that campaign; nil while it has not been granted
	child    *actor.PID  // nil while none runs
	guard    *guard      // of the child
	forget   func()      // takes back BeforeClose; nil while the session would not wait
	backlog  backlog
	restarts bool // another incarnation follows
}

// Messages of a singleton to itself. Each counts where it is the newest of its kind.
type (
	pauseOver struct {
		mailbox.Quiet
		_ byte // so that each has an address of its own
	}
	sessionCloses struct{ mailbox.Quiet }
)

// New makes the props of a singleton.
func New(config Config) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return newSingletonActor(config) }, actor.WithMailbox(mailbox.Singleton))
}

func newSingletonActor(config Config) *singletonActor {
	policy := term.Singleton
	policy.Failures, policy.Within = config.Failures, config.Within
	return &singletonActor{Config: config, m: term.Machine{Policy: policy}, backlog: backlog{most: config.Buffer},
		clock: time.Now(), pauses: term.NewPauses(config.Out)}
}

// Receive takes one message. A panic ends the singleton: its child is stopped, and the lock is given
// back when that has ended.
func (s *singletonActor) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			ctx.Stop(ctx.Self())
			mailbox.LogPanic(ctx.ActorSystem(), "singleton panicked", r, logkeys.Path, s.Path)
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		s.begin(ctx)
	case *pauseOver:
		if msg == s.pausing {
			s.step(ctx, term.Event{Kind: term.PauseOver})
		}
	case *campaignTold:
		if msg.from == s.campaign {
			s.told(ctx, msg)
		}
	case *childRestarts:
		if msg.guard == s.guard && s.child != nil {
			s.step(ctx, term.Event{Kind: term.WorkRestarted})
		}
	case *actor.Terminated:
		if s.child != nil && msg.Who.Equal(s.child) {
			s.childEnded(ctx)
		}
	case *sessionCloses:
		s.step(ctx, term.Event{Kind: term.Close, Reason: messages.ReasonSessionClosed})
	case *actor.Stopping:
		s.step(ctx, term.Event{Kind: term.Stop})
	case *actor.Restarting: // the actor system stops the child, and the next incarnation begins when that has ended
		s.restarts = true
		s.step(ctx, term.Event{Kind: term.Stop})
		s.drop(ctx)
	case *actor.Stopped:
		s.drop(ctx)
	default:
		s.deliver(ctx)
	}
}

func (s *singletonActor) begin(ctx actor.Context) {
	if s.Wrong != nil {
		s.step(ctx, term.Event{Kind: term.Close, Reason: messages.ReasonBadInput, Detail: s.Wrong.Error()})
		return
	}
	s.step(ctx, term.Event{Kind: term.Begin})
}

// told takes a notice of the lock actor.
func (s *singletonActor) told(ctx actor.Context, told *campaignTold) {
	ev := term.Event{Kind: term.LockEnded}
	switch told.notice.(type) {
	case *messages.Held:
		s.term = told.term
		ev = term.Event{Kind: term.Held, Valid: s.term.Valid()}
	case *messages.RevokeRequested:
		ev.Kind = term.Revoke
	case *messages.Revoked:
		ev.Kind, ev.Outcome = term.Gone, term.Taken
	case *messages.Lost:
		if s.term != nil {
			ev.Outcome = term.LeaseLost
		}
		ev.Reason, ev.Detail, ev.Passes = passes(told.notice)
	default:
		ev.Reason, ev.Detail, ev.Passes = passes(told.notice)
	}
	s.step(ctx, ev)
}

func (s *singletonActor) childEnded(ctx actor.Context) {
	s.child, s.guard = nil, nil
	s.step(ctx, term.Event{Kind: term.WorkEnded, Valid: s.term != nil && s.term.Valid(), Passes: true})
	if s.child == nil {
		s.idle()
	}
}

// step gives one event to the machine, and carries out its effects.
func (s *singletonActor) step(ctx actor.Context, ev term.Event) {
	ev.At, ev.Longest = time.Since(s.clock), s.longestPause()
	before := s.m.Phase
	for _, effect := range s.m.Step(ev) {
		s.perform(ctx, effect, ev)
	}
	if (before == term.Active) != (s.m.Phase == term.Active) {
		s.log(ctx, slog.LevelInfo, "singleton", logkeys.Path, s.Path, logkeys.From, before.String(),
			logkeys.State, s.m.Phase.String(), logkeys.Event, ev.Kind.String())
	}
}

func (s *singletonActor) log(ctx actor.Context, level slog.Level, text string, args ...any) {
	log, _ := mailbox.LogOf(ctx.ActorSystem())
	log.Log(context.Background(), level, text, args...)
}

func (s *singletonActor) perform(ctx actor.Context, effect term.Effect, ev term.Event) {
	switch effect {
	case term.Campaign:
		s.term = nil
		root := ctx.ActorSystem().Root
		s.campaign = &Campaign{leaseClock: s.LeaseClock, root: root, self: ctx.Self()}
		s.lock = root.Spawn(s.NewLock(ctx.Self(), s.campaign)) // a child would end with us, before ours
	case term.StartWork:
		s.spawn(ctx)
	case term.EndContext:
		s.term.cancel(causeOf(s.m.Outcome, ev.Reason))
	case term.StopWork:
		ctx.Stop(s.child)
	case term.Release:
		if s.term != nil {
			s.term.end(causeOf(s.m.Outcome, ev.Reason))
		}
		ctx.Send(s.lock, &messages.Release{})
	case term.NoPause, term.ShortestPause, term.LongerPause, term.LongPause:
		s.wait(ctx, s.pauses.Next(effect, ev.Longest))
	case term.Finish:
		s.finish(ctx)
	}
}

// spawn spawns the child. One that cannot be spawned has ended.
func (s *singletonActor) spawn(ctx actor.Context) {
	s.tellOfClose(ctx)
	s.guard = &guard{term: s.term, singleton: ctx.Self(), newActivation: s.NewActivation}
	guarded := []actor.PropsOption{actor.WithReceiverMiddleware(s.guard.middleware),
		actor.WithContextDecorator(s.guard.decorate)}
	if !s.spawned(ctx, s.Props.Clone(guarded...)) {
		s.childEnded(ctx)
		return
	}
	for _, env := range s.backlog.take() {
		ctx.Send(s.child, env)
	}
}

// spawned reports whether a child could be spawned: its producer may panic.
func (s *singletonActor) spawned(ctx actor.Context, props *actor.Props) (is bool) {
	defer func() {
		if r := recover(); r != nil {
			mailbox.LogPanic(ctx.ActorSystem(), "the actor of a singleton could not be spawned", r, logkeys.Path, s.Path)
		}
	}()
	s.child = ctx.Spawn(props)
	return true
}

// tellOfClose has a session that closes wait for the end of the child, and no longer than its timeout.
func (s *singletonActor) tellOfClose(ctx actor.Context) {
	if s.Session == nil || s.forget != nil {
		return
	}
	root, self, session, idle := ctx.ActorSystem().Root, ctx.Self(), s.Session, s.term.idle
	s.forget = session.BeforeClose(func() {
		root.Send(self, &sessionCloses{})
		bound := time.NewTimer(session.Timeout())
		defer bound.Stop()
		select {
		case <-idle:
		case <-bound.C:
		}
	})
}

// idle: no child runs any more.
func (s *singletonActor) idle() {
	if s.forget != nil {
		s.forget()
		s.forget = nil
		close(s.term.idle)
	}
}

// longestPause bounds the pauses by the session timeout, where that is known.
func (s *singletonActor) longestPause() time.Duration {
	var timeout time.Duration
	if s.Timeout != nil {
		timeout = s.Timeout()
	}
	return term.LongestPause(timeout)
}

// wait begins a pause.
func (s *singletonActor) wait(ctx actor.Context, pause time.Duration) {
	root, self, over := ctx.ActorSystem().Root, ctx.Self(), &pauseOver{}
	s.pausing = over
	s.pause = time.AfterFunc(pause, func() { root.Send(self, over) })
}

// finish ends the actor, and tells why it ends by itself.
func (s *singletonActor) finish(ctx actor.Context) {
	if s.pause != nil {
		s.pause.Stop()
	}
	if s.m.Reason != messages.ReasonNone {
		s.log(ctx, slog.LevelError, "singleton ended", logkeys.Path, s.Path, logkeys.Reason, string(s.m.Reason),
			logkeys.Error, s.m.Detail)
		if parent := ctx.Parent(); parent != nil && s.SameNode(ctx.ActorSystem(), parent) {
			ctx.Request(parent, &messages.Failed{Reason: s.m.Reason, Detail: s.m.Detail,
				Grant: messages.Grant{Path: s.Path, Actor: messages.IDOf(ctx.Self())}})
		}
	}
	if !s.restarts {
		ctx.Stop(ctx.Self())
	}
}

// deliver forwards a message to the child, or keeps it, or makes it a dead letter.
func (s *singletonActor) deliver(ctx actor.Context) {
	switch ctx.Message().(type) {
	case actor.MessageBatch: // its messages came before it
		return
	case *actor.Touch: // which the actor system answers for this address
		return
	}
	switch {
	case s.child != nil && s.m.Phase == term.Active && s.term.Valid():
		ctx.Forward(s.child)
	case !s.m.Ends() && s.backlog.keep(ctx):
	default:
		ctx.ActorSystem().DeadLetter.SendUserMessage(ctx.Self(), envelope(ctx))
	}
}

// drop makes dead letters of the kept messages: no child will come.
func (s *singletonActor) drop(ctx actor.Context) {
	for _, env := range s.backlog.take() {
		ctx.ActorSystem().DeadLetter.SendUserMessage(ctx.Self(), env)
	}
}
