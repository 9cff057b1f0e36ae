package actors

import (
	"cmp"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/multilock"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// NewAll makes the props of an actor that acquires several locks, of any kinds, as one. It takes
// one after the other, by path and name, as locks.All does. So two of them never deadlock. Its
// parent and its observers get messages.AllHeld, and one of the terminal notices of that kind. It
// takes Release and Cancel, whose reason AllCancelled has, and may be stopped at any time. When one
// lock is lost, the others are given back.
//
// Where the session has no room for a lock while others are held, it gives these back, pauses, and
// begins again, a few times, as locks.All does. It tells its parent of the last attempt only.
//
// Its notices have the actor itself as their sender; the Grants in them name the lock actors, its
// children.
//
// It tells AllFailed before anything is sent when a want is not well formed, when a lock is named
// twice, and when the parent, the owner or an observer is on another node. A nil session panics.
func NewAll(session *Session, wants []messages.Acquire, opts ...LockOption) *actor.Props {
	if session == nil {
		panic("turnstile: actors.NewAll: the session is nil")
	}
	of := func(want messages.Acquire) (*Session, messages.Acquire) { return session, want }
	ordered, wrong := multilock.InOrder(wants, of, CheckAcquire)
	return actor.PropsFromProducer(func() actor.Actor {
		a := &all{session: session, wants: ordered, wrong: wrong, Audience: audience.Local(opts)}
		a.Listener = nil
		return a
	}, actor.WithMailbox(mailbox.Closed))
}

// all is the actor. Its lock actors are its children; multilock.Acquisition decides when it spawns and
// releases them.
type all struct {
	session *Session
	wants   []messages.Acquire // in order
	wrong   error              // with them, if anything
	audience.Audience

	acquisition multilock.Acquisition
	parts       []*actor.PID // all that it ever had
	ended       []*actor.PID // the parts that have ended
	told        int          // parts that have told how they ended
	gone        int          // parts that have ended, and will tell nothing more
	held        []messages.Held
	why         messages.Reason // all are given up; empty while nothing has said so
	end         any             // the terminal notice, once one is due
}

// pauseEnded says that the pause before the next attempt is over. The actor sends it to itself.
type pauseEnded struct{ mailbox.Quiet }

// partEnded says that a child has ended and tells nothing more. The actor sends it to itself:
// Terminated overtakes the last notices of the child, this does not.
type partEnded struct{}

// Receive takes one message. A panic ends the actor and its children, whose nodes are the session's
// to delete then.
func (a *all) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			ctx.Stop(ctx.Self())
			told.LogPanic(a.session.opts.log, "actor of several locks panicked", r)
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		a.begin(ctx)
	case *messages.Held:
		a.held = append(a.held, *msg)
		a.do(ctx, a.acquisition.Granted())
	case *messages.Released: // by force, if we had not asked for it
		if !a.acquisition.Retreats() {
			a.why = cmp.Or(a.why, msg.Reason)
		}
		a.partDone(ctx, a.acquisition.Lost(), nil)
	case *messages.Lost:
		a.partDone(ctx, a.acquisition.Lost(), &messages.AllLost{Lost: *msg})
	case *messages.Cancelled:
		a.partDone(ctx, a.acquisition.Refused(false), &messages.AllCancelled{Cancelled: *msg})
	case *messages.Failed:
		noRoom := msg.Reason == messages.ReasonSessionFull
		a.partDone(ctx, a.acquisition.Refused(noRoom), &messages.AllFailed{Failed: *msg})
	case *messages.Suspended, *messages.Resumed, *messages.RevokeRequested, *messages.Revoked, *messages.Deadlocked:
		a.Tell(ctx, msg)
	case *messages.Release, messages.Release:
		a.giveUp(ctx, messages.ReasonReleased)
	case *messages.Cancel:
		a.giveUp(ctx, cmp.Or(msg.Reason, messages.ReasonCancelled))
	case messages.Cancel:
		a.giveUp(ctx, cmp.Or(msg.Reason, messages.ReasonCancelled))
	case *actor.Terminated:
		a.terminated(ctx, msg)
	case *partEnded:
		if a.gone++; a.gone < len(a.parts) {
			a.do(ctx, a.acquisition.Lost())
		} else {
			a.do(ctx, a.acquisition.NoneLeft())
		}
	case *pauseEnded:
		a.do(ctx, a.acquisition.PauseOver())
	case *actor.Stopping:
		a.Unwatch(ctx)
	}
}

func (a *all) begin(ctx actor.Context) {
	if wrong := cmp.Or(a.Check(ctx), a.wrong); wrong != nil {
		a.end = &messages.AllFailed{Failed: messages.Failed{Reason: messages.ReasonBadInput, Detail: wrong.Error()}}
		a.finish(ctx)
		return
	}
	a.Watch(ctx)
	a.do(ctx, a.acquisition.Begin(len(a.wants)))
}

// do carries out the next step of a.acquisition.
func (a *all) do(ctx actor.Context, next multilock.Next) {
	switch next.Do {
	case multilock.Ask:
		a.ask(ctx, a.wants[next.Lock])
	case multilock.HaveAll:
		a.Tell(ctx, &messages.AllHeld{Locks: slices.Clone(a.held)})
	case multilock.GiveBack:
		a.giveBack(ctx)
	case multilock.Pause:
		a.held = nil
		root, self := ctx.ActorSystem().Root, ctx.Self()
		time.AfterFunc(next.Pause, func() { root.Send(self, &pauseEnded{}) })
	case multilock.End:
		a.finish(ctx)
	}
}

// ask asks for a lock. All are asked for by one caller, so that a deadlock through them is seen as
// one.
func (a *all) ask(ctx actor.Context, want messages.Acquire) {
	if want.Caller == "" {
		want.Caller = queue.Caller(messages.IDOf(ctx.Self()).Key(ctx.ActorSystem().ID))
	}
	part := ctx.Spawn(NewLock(a.session, want))
	a.parts = append(a.parts, part)
	ctx.Watch(part)
}

// partDone takes the terminal notice of a lock actor. The first reason counts, except that a loss
// outweighs a release of all.
func (a *all) partDone(ctx actor.Context, next multilock.Next, because any) {
	a.told++
	if a.end == nil && !a.acquisition.Retreats() {
		a.end = because
	}
	a.do(ctx, next)
}

// giveUp stops asking for the locks, and gives back those that are held. The first reason counts.
func (a *all) giveUp(ctx actor.Context, why messages.Reason) {
	a.why = cmp.Or(a.why, why)
	a.do(ctx, a.acquisition.GiveUp())
}

// giveBack gives every lock back, and gives up the one that is waited for: it tells the reason.
func (a *all) giveBack(ctx actor.Context) {
	for _, part := range slices.Backward(a.parts) {
		isPart := func(h messages.Held) bool { return h.Actor == messages.IDOf(part) }
		switch {
		case slices.ContainsFunc(a.ended, part.Equal):
		case a.why == "" || slices.ContainsFunc(a.held, isPart):
			ctx.Send(part, &messages.Release{})
		default:
			ctx.Send(part, &messages.Cancel{Reason: a.why})
		}
	}
}

func (a *all) terminated(ctx actor.Context, msg *actor.Terminated) {
	who := msg.Who
	if !slices.ContainsFunc(a.parts, who.Equal) {
		if audience.OwnerEnded(msg) {
			a.giveUp(ctx, messages.ReasonOwnerGone)
		}
		return
	}
	if slices.ContainsFunc(a.ended, who.Equal) {
		return // it came before: a parent that also watches its child is told twice
	}
	a.ended = append(a.ended, who)
	ctx.Send(ctx.Self(), &partEnded{})
}

// finish sends the terminal notice, and stops.
func (a *all) finish(ctx actor.Context) {
	a.Tell(ctx, cmp.Or(a.end, a.outcome()))
	ctx.Stop(ctx.Self())
}

// outcome is the end where no part has told another.
func (a *all) outcome() any {
	switch {
	case a.told < len(a.parts): // a lock actor of ours was stopped, or panicked
		return &messages.AllLost{Lost: messages.Lost{Reason: messages.ReasonStopped}}
	case len(a.held) < len(a.wants):
		return &messages.AllCancelled{Cancelled: messages.Cancelled{Reason: cmp.Or(a.why, messages.ReasonCancelled)}}
	}
	released := &messages.AllReleased{}
	for _, held := range a.held {
		released.Locks = append(released.Locks, held.Grant)
	}
	return released
}
