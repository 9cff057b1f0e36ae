package actors

import (
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// singletonActor is the actor of NewSingleton. It spawns the lock actor of each campaign and the child of
// each term, tells the machine of package term what happens to them, and carries out its effects.
type singletonActor struct {
	singletonSettings
	term.Clocked
	pause    *time.Timer              // until the next campaign; nil before the first pause
	campaign *term.Candidacy          // the newest; nil before the first
	lock     *actor.PID               // its lock actor
	child    *actor.PID               // nil while none runs
	guard    *childGuard              // of the child
	closing  term.Closing             // of the session
	kept     []*actor.MessageEnvelope // that came while no child ran, in order
	restarts bool                     // another incarnation follows
}

// singletonEvent is an event that did not happen on the singleton's goroutine. It counts where its source
// is this incarnation, its newest campaign, or the guard of its child.
type singletonEvent struct {
	mailbox.Quiet
	source any
	term.Event
}

func newSingletonActor(settings singletonSettings) *singletonActor {
	s := &singletonActor{singletonSettings: settings,
		Clocked: term.Clocked{Machine: term.Machine{Policy: settings.policy}, Out: settings.out}}
	if timed, is := settings.from.(interface{ Timeout() time.Duration }); is { // a session, or gateways
		s.Timeout = timed.Timeout
	}
	return s
}

// Receive takes one message. A panic ends the singleton: its child is stopped, and the lock is given
// back when that has ended.
func (s *singletonActor) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			ctx.Stop(ctx.Self())
			mailbox.LogPanic(ctx.ActorSystem(), "singleton panicked", r, logkeys.Path, s.want.Path)
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		if err := s.check(); err != nil {
			s.step(ctx, term.Event{Kind: term.Close, Reason: messages.ReasonBadInput, Detail: err.Error()})
			return
		}
		s.step(ctx, term.Event{Kind: term.Begin})
	case *singletonEvent:
		if msg.source == any(s) || msg.source == any(s.campaign) || msg.source == any(s.guard) {
			s.step(ctx, msg.Event)
		}
	case *actor.Terminated:
		if s.child != nil && msg.Who.Equal(s.child) {
			s.childEnded(ctx)
		}
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

func (s *singletonActor) childEnded(ctx actor.Context) {
	s.child, s.guard = nil, nil
	s.step(ctx, term.Event{Kind: term.WorkEnded, Valid: s.holds(), Passes: true})
}

// step gives one event to the machine, and carries out its effects.
func (s *singletonActor) step(ctx actor.Context, ev term.Event) {
	before := s.Phase
	for _, effect := range s.Step(ev) {
		s.perform(ctx, effect)
	}
	if (before == term.Active) != (s.Phase == term.Active) {
		log, _ := mailbox.LogOf(ctx.ActorSystem())
		log.Info("singleton", logkeys.Path, s.want.Path, logkeys.From, before.String(),
			logkeys.State, s.Phase.String(), logkeys.Event, ev.Kind.String())
	}
}

// holds reports whether the lock is certain to be held.
func (s *singletonActor) holds() bool {
	lease := s.campaign.Lease()
	return lease != nil && lease.Valid()
}

func (s *singletonActor) perform(ctx actor.Context, effect term.Effect) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	tell := func(source any, ev term.Event) { root.Send(self, &singletonEvent{source: source, Event: ev}) }
	switch effect {
	case term.Campaign:
		s.closing.Follow(s.from, func() { tell(s, term.Event{Kind: term.Close, Reason: messages.ReasonSessionClosed}) })
		s.campaign = &term.Candidacy{Clock: s.from.Clock, Lost: ErrSingletonLost,
			Tell: func(of *term.Candidacy, ev term.Event, _ error) { tell(of, ev) }}
		lock := s.from.NewLock(s.want, append(slices.Clip(s.lockOptions), WithOwner(self), WithListener(s.campaign))...)
		s.lock = root.Spawn(lock) // a child would end with us, before ours
	case term.StartWork:
		s.spawn(ctx)
	case term.StopWork:
		s.campaign.Lease().EndContext(singletonCause(s.Outcome))
		ctx.Stop(s.child)
	case term.Release:
		s.campaign.End(singletonCause(s.Outcome))
		ctx.Send(s.lock, &messages.Release{})
	case term.NoPause, term.Pause, term.LongPause:
		s.pause = time.AfterFunc(s.Length(effect), func() { tell(s, term.Event{Kind: term.PauseOver}) })
	case term.Finish:
		s.finish(ctx)
	}
}

// spawn spawns the child. One that cannot be spawned, because its producer panics, has ended.
func (s *singletonActor) spawn(ctx actor.Context) {
	s.guard = &childGuard{lease: s.campaign.Lease(), singleton: ctx.Self()}
	func() {
		defer func() {
			if r := recover(); r != nil {
				mailbox.LogPanic(ctx.ActorSystem(), "the actor of a singleton could not be spawned", r, logkeys.Path, s.want.Path)
			}
		}()
		s.child = ctx.Spawn(s.props.Clone(actor.WithReceiverMiddleware(s.guard.middleware), term.Continues(s.guard.serves)))
	}()
	if s.child == nil {
		s.childEnded(ctx)
		return
	}
	for _, env := range s.kept {
		ctx.Send(s.child, env)
	}
	s.kept = nil
}

// finish ends the actor, and tells why it ends by itself.
func (s *singletonActor) finish(ctx actor.Context) {
	s.closing.Over()
	if s.pause != nil {
		s.pause.Stop()
	}
	if s.Reason != messages.ReasonNone {
		log, _ := mailbox.LogOf(ctx.ActorSystem())
		log.Error("singleton ended", logkeys.Path, s.want.Path, logkeys.Reason, string(s.Reason),
			logkeys.Error, s.Detail)
		if parent := ctx.Parent(); parent != nil && audience.SameNode(ctx.ActorSystem(), parent) {
			ctx.Request(parent, &messages.Failed{Reason: s.Reason, Detail: s.Detail,
				Grant: messages.Grant{Path: s.want.Path, Actor: messages.IDOf(ctx.Self())}})
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
	case s.child != nil && s.Phase == term.Active && s.holds():
		ctx.Forward(s.child)
	case !s.Ends() && len(s.kept) < s.buffer:
		s.kept = append(s.kept, envelope(ctx))
	default:
		ctx.ActorSystem().DeadLetter.SendUserMessage(ctx.Self(), envelope(ctx))
	}
}

// drop makes dead letters of the kept messages: no child will come.
func (s *singletonActor) drop(ctx actor.Context) {
	for _, env := range s.kept {
		ctx.ActorSystem().DeadLetter.SendUserMessage(ctx.Self(), env)
	}
	s.kept = nil
}

// singletonCause says why the context of the child ends. A loss that was told has ended it before; where
// nobody has told, the clock knows that the lease is over.
func singletonCause(outcome term.Outcome) error {
	switch outcome {
	case term.Revoked:
		return ErrSingletonAsked
	case term.Failing:
		return ErrSingletonFailing
	case term.Taken, term.LeaseLost:
		return fmt.Errorf("%w: %s", ErrSingletonLost, messages.ReasonLeaseOver)
	}
	return ErrSingletonStopped
}
