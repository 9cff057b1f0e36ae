package actorstest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// fakeActor is the lock actor of a FakeLock.
type fakeActor struct {
	audience.Audience
	fake   *Fake
	want   messages.Acquire
	self   *FakeLock
	epoch  uint64
	clock  *zkconn.LeaseClock
	grant  messages.Grant
	state  messages.State
	before messages.State // of a suspension
}

// tell has a fakeActor send a notice.
type tell struct {
	mailbox.Quiet
	notice any
	told   chan<- struct{}
}

// lease is longer than any test.
const lease = 365 * 24 * time.Hour

func (f *fakeActor) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		f.begin(ctx)
	case *tell:
		f.say(ctx, msg.notice)
		close(msg.told)
	case *messages.Release, messages.Release:
		f.giveBack(ctx, messages.ReasonReleased)
	case *messages.Cancel:
		f.giveBack(ctx, cmp.Or(msg.Reason, messages.ReasonCancelled))
	case messages.Cancel:
		f.giveBack(ctx, cmp.Or(msg.Reason, messages.ReasonCancelled))
	case *messages.Revoke, messages.Revoke:
		if f.state == messages.StateHeld {
			f.say(ctx, &messages.RevokeRequested{})
		}
	case *messages.Check, messages.Check:
		if f.state.Holding() {
			f.say(ctx, &messages.Checked{})
		}
	case *messages.Observe, messages.Observe:
		f.Join(ctx, &messages.Transition{Grant: f.grant, To: f.state, Session: fakeSession, At: time.Now()})
	case *actor.Terminated: // only the owner is watched
		f.giveBack(ctx, messages.ReasonOwnerGone)
	case *actor.Restarting:
		ctx.Stop(ctx.Self())
	case *actor.Stopping:
		f.Watched(ctx, func(pid *actor.PID) { mailbox.Unwatch(ctx, pid) })
		if !f.state.Terminal() {
			f.enter(ctx, messages.StateReleasing, "Stopped", messages.ReasonStopped)
		}
	case *actor.Stopped:
		f.Stopped(ctx, msg)
		close(f.self.over)
	}
}

const fakeSession = 1

func (f *fakeActor) begin(ctx actor.Context) {
	f.epoch, f.clock = f.fake.newEpoch()
	f.grant = messages.Grant{Path: f.want.Path, Actor: messages.IDOf(ctx.Self())}
	f.self = &FakeLock{Recorder: NewRecorder(ctx.ActorSystem()), lock: ctx.Self(), over: make(chan struct{})}
	err := cmp.Or(f.Begin(ctx), actors.CheckAcquire(f.want))
	f.Observers = append(slices.Clip(f.Observers), f.self.Recorder.PID())
	if err != nil {
		f.say(ctx, &messages.Failed{Reason: messages.ReasonBadInput, Detail: err.Error()})
	} else {
		f.enter(ctx, messages.StateCreating, "Begin", messages.ReasonNone)
		f.grant.Node = fmt.Sprintf("_c_fake-lock-%010d", f.epoch)
		if f.fake.Begin != nil {
			f.fake.Begin(f.self)
		}
	}
	for _, notice := range f.self.begin() {
		f.say(ctx, notice)
	}
	f.fake.locks.add(f.want.Path, f.self)
}

// enter changes the state, and tells the observers.
func (f *fakeActor) enter(ctx actor.Context, to messages.State, on string, reason messages.Reason) {
	f.Record(ctx, &messages.Transition{Grant: f.grant, From: f.state, To: to, On: on, Reason: reason, Session: fakeSession, At: time.Now()})
	f.state = to
}

// giveBack ends the request for its owner.
func (f *fakeActor) giveBack(ctx actor.Context, reason messages.Reason) {
	held := f.state.Holding() || f.state == messages.StateRecovering
	switch {
	case f.state == messages.StateReleasing || f.state.Terminal():
	case held:
		f.enter(ctx, messages.StateReleasing, "Release", reason)
		f.say(ctx, &messages.Released{Reason: reason})
	default:
		f.enter(ctx, messages.StateReleasing, "Cancel", reason)
		f.say(ctx, &messages.Cancelled{Reason: reason})
	}
}

// say completes a notice, enters the state that it tells of, and sends it.
func (f *fakeActor) say(ctx actor.Context, notice any) {
	if f.state.Terminal() {
		return
	}
	if _, held := notice.(*messages.Held); held {
		f.grant.Token = f.fake.nextToken()
	}
	notice = f.ours(notice)
	to, reason := f.complete(notice)
	if to != f.state {
		f.enter(ctx, to, "Tell", reason)
	}
	f.Tell(ctx, notice)
	if to.Terminal() {
		ctx.Stop(ctx.Self())
	}
}

// ours gives a copy of a notice with our grant. The test may tell the notice again.
func (f *fakeActor) ours(notice any) any {
	of := reflect.ValueOf(notice)
	if of.Kind() != reflect.Pointer {
		return notice
	}
	ours := reflect.New(of.Type().Elem())
	ours.Elem().Set(of.Elem())
	if grant := ours.Elem().FieldByName("Grant"); grant.IsValid() {
		grant.Set(reflect.ValueOf(f.grant))
	}
	return ours.Interface()
}

// complete fills in a notice, and gives the state that it tells of. A lost lease ends first.
func (f *fakeActor) complete(notice any) (to messages.State, reason messages.Reason) {
	switch n := notice.(type) {
	case *messages.Waiting, *messages.Behind:
		return messages.StateWatching, ""
	case *messages.Held:
		if n.Until.IsZero() {
			n.Until = time.Now().Add(lease)
		}
		f.clock.Extend(n.Until)
		n.Session, n.Epoch, n.Until = fakeSession, f.epoch, f.clock.Deadline()
		n.Term, _ = f.clock.Term()
		return messages.StateHeld, ""
	case *messages.Suspended:
		if n.Until.IsZero() {
			n.Until = f.clock.Deadline()
		}
		f.before = f.state
		return messages.StateRecovering, ""
	case *messages.Resumed:
		if n.Until.IsZero() {
			n.Until = f.clock.Deadline()
		}
		return f.before, ""
	case *messages.RevokeRequested:
		return messages.StateRevoking, ""
	case *messages.Revoked:
		return messages.StateReleasing, messages.ReasonRevoked
	case *messages.Lost:
		f.endLease(n.Reason)
	}
	if to, why := messages.EndOf(notice); to.Terminal() {
		return to, why
	}
	return f.state, ""
}

func (f *fakeActor) endLease(reason messages.Reason) {
	switch reason {
	case messages.ReasonNodeDeleted:
	case messages.ReasonSessionExpired:
		f.clock.Expire()
	default:
		f.clock.End()
	}
}
