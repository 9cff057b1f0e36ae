package actors

import (
	"cmp"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/requests"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// NewAll makes the props of an actor that acquires several locks, of any kinds, as one. It takes one
// after the other, by path and name, as locks.All does. So two of them never deadlock. Its parent and its
// observers get messages.AllHeld, and one of the terminal notices of that kind. It takes Release and
// Cancel, and may be stopped at any time. When one lock is lost, the others are given back.
//
// Where the session has no room for a lock while others are held, it gives these back, pauses, and
// begins again, a few times, as locks.All does. Its parent is told of the last time alone.
//
// Its notices have the actor itself as their sender; the Grants in them name the lock actors, its
// children.
//
// It tells AllFailed before anything is sent when a want is not well formed, when a lock is named twice,
// and when the parent, the owner or an observer is on another node. A nil session panics.
func NewAll(session *Session, wants []messages.Acquire, opts ...LockOption) *actor.Props {
	if session == nil {
		panic("turnstile: actors.NewAll: the session is nil")
	}
	of := func(want messages.Acquire) (*Session, messages.Acquire) { return session, want }
	ordered, wrong := requests.InOrder(wants, of, CheckAcquire)
	return actor.PropsFromProducer(func() actor.Actor {
		a := &all{session: session, wants: ordered, wrong: wrong, Audience: audience.Local(opts)}
		a.Listener = nil
		return a
	})
}

// all is the actor. Its lock actors are its children; it acquires one at a time.
type all struct {
	session *Session
	wants   []messages.Acquire // in order
	wrong   error              // with them, if anything
	audience.Audience

	parts  []*actor.PID // all that it ever had
	ended  []*actor.PID // the parts that have ended
	held   []messages.Held
	ending bool
	asked  bool // it was to end, in order
	end    any  // the terminal notice, once one is due
	// refusals counts how often the session had no room while locks were held. again: it is to begin anew when these are
	// given back, and pausing: it has given them back.
	refusals       int
	again, pausing bool
}

// pauseEnded says that the pause before the next attempt is over. The actor sends it to itself.
type pauseEnded struct{ mailbox.Quiet }

// partsEnded says that the last child has ended. The actor sends it to itself: Terminated overtakes the last
// notices, this does not.
type partsEnded struct{}

// Receive takes one message. A panic ends the actor and its children, whose nodes are the session's to delete then.
func (a *all) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			ctx.Stop(ctx.Self())
			mailbox.LogPanic(a.session.opts.log, "actor of several locks panicked", r)
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		a.begin(ctx)
	case *messages.Held:
		a.taken(ctx, *msg)
	case *messages.Released:
		if !a.again {
			a.release(ctx) // by force, if we had not asked for it
		}
	case *messages.Lost:
		a.giveBack(ctx, &messages.AllLost{Lost: *msg})
	case *messages.Cancelled:
		a.giveBack(ctx, &messages.AllCancelled{Cancelled: *msg})
	case *messages.Failed:
		a.failed(ctx, msg)
	case *messages.Suspended, *messages.Resumed, *messages.RevokeRequested, *messages.Revoked, *messages.Deadlocked:
		a.Tell(ctx, msg)
	case *messages.Release, messages.Release, *messages.Cancel, messages.Cancel:
		a.release(ctx)
	case *actor.Terminated:
		a.terminated(ctx, msg)
	case *partsEnded:
		a.finish(ctx)
	case *pauseEnded:
		if a.pausing { // else it was to end
			a.pausing = false
			a.next(ctx)
		}
	}
}

func (a *all) begin(ctx actor.Context) {
	if wrong := cmp.Or(a.Check(ctx), a.wrong); wrong != nil {
		a.end = &messages.AllFailed{Failed: messages.Failed{Reason: messages.ReasonBadInput, Detail: wrong.Error()}}
		a.finish(ctx)
		return
	}
	if a.Owner != nil {
		ctx.Watch(a.Owner)
	}
	a.next(ctx)
}

// next asks for the next lock. All are asked for by one caller, so that a deadlock through them is seen as one.
func (a *all) next(ctx actor.Context) {
	want := a.wants[len(a.held)]
	if want.Caller == "" {
		want.Caller = requests.Caller(requests.Address(ctx.ActorSystem(), messages.IDOf(ctx.Self())))
	}
	part := ctx.Spawn(NewLock(a.session, want))
	a.parts = append(a.parts, part)
	ctx.Watch(part)
}

func (a *all) taken(ctx actor.Context, held messages.Held) {
	a.held = append(a.held, held)
	switch {
	case a.ending: // it has been told to release already
	case len(a.held) < len(a.wants):
		a.next(ctx)
	default:
		a.Tell(ctx, &messages.AllHeld{Locks: slices.Clone(a.held)})
	}
}

// failed takes the refusal of a lock. Where the session has no room for it, another that wants several may need the room
// of those that are held here as much.
func (a *all) failed(ctx actor.Context, msg *messages.Failed) {
	if msg.Reason == messages.ReasonSessionFull && len(a.held) > 0 && a.end == nil && !a.asked {
		a.refusals++
		a.again = a.refusals < retry.NoRoomTries
	}
	if a.again {
		a.giveBack(ctx, nil)
		return
	}
	a.giveBack(ctx, &messages.AllFailed{Failed: *msg})
}

// beginAgain asks for all once more, after a pause.
func (a *all) beginAgain(ctx actor.Context) {
	a.held, a.ending, a.again, a.pausing = nil, false, false, true
	root, self := ctx.ActorSystem().Root, ctx.Self()
	time.AfterFunc(retry.NoRoom.Pause(a.refusals), func() { root.Send(self, &pauseEnded{}) })
}

// release gives all back because they were to be.
func (a *all) release(ctx actor.Context) {
	a.asked, a.again = true, false
	if a.pausing {
		a.pausing = false
		a.finish(ctx)
		return
	}
	a.giveBack(ctx, nil)
}

// giveBack releases every lock. The first reason counts, but that one was lost counts more than that all were
// to be released.
func (a *all) giveBack(ctx actor.Context, because any) {
	if a.end == nil {
		a.end = because
	}
	if a.ending {
		return
	}
	a.ending = true
	for _, part := range slices.Backward(a.parts) {
		if !slices.ContainsFunc(a.ended, part.Equal) {
			ctx.Send(part, &messages.Release{})
		}
	}
}

func (a *all) terminated(ctx actor.Context, msg *actor.Terminated) {
	who := msg.Who
	if !slices.ContainsFunc(a.parts, who.Equal) {
		if audience.OwnerEnded(msg) {
			a.release(ctx)
		}
		return
	}
	if slices.ContainsFunc(a.ended, who.Equal) {
		return // a parent is told once as such, and once as one who watches
	}
	if a.ended = append(a.ended, who); len(a.ended) == len(a.parts) {
		ctx.Send(ctx.Self(), &partsEnded{})
	} else if !a.ending {
		a.giveBack(ctx, nil) // whatever ended it, its notice is in the mailbox
	}
}

// finish sends the terminal notice, and stops.
func (a *all) finish(ctx actor.Context) {
	if a.again && a.end == nil {
		a.beginAgain(ctx)
		return
	}
	if a.end == nil {
		a.end = a.outcome()
	}
	a.Tell(ctx, a.end)
	ctx.Stop(ctx.Self())
}

// outcome is the end where no part has told another.
func (a *all) outcome() any {
	switch {
	case !a.asked: // somebody has stopped a lock actor of ours
		return &messages.AllLost{Lost: messages.Lost{Reason: messages.ReasonStopped}}
	case len(a.held) < len(a.wants):
		return &messages.AllCancelled{Cancelled: messages.Cancelled{Reason: messages.ReasonCancelled}}
	}
	released := &messages.AllReleased{}
	for _, held := range a.held {
		released.Locks = append(released.Locks, held.Grant)
	}
	return released
}
