// Package audience has those to whom a lock actor, of a session or a gateway, reports: its parent,
// its owner, its observers and its listener.
package audience

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
)

// Audience is everybody that one actor reports to besides its parent. The actor calls it from
// Receive.
type Audience struct {
	Owner     *actor.PID // its end means Release; nil for none
	Observers []*actor.PID
	Listener  Listener
	// Requester is the node that asks over a gateway; "" for this one.
	Requester string
	// Pack makes notices fit for other nodes, which are refused where it is nil.
	Pack func(message any) any
}

// New reads lock options: actors.LockOption is such a function.
func New[Option ~func(*Audience)](opts []Option) (a Audience) {
	for _, opt := range opts {
		opt(&a)
	}
	return a
}

// Local is New for an audience on the actor's node: actors.WithRemote changes nothing.
func Local[Option ~func(*Audience)](opts []Option) Audience {
	a := New(opts)
	a.Pack = nil
	return a
}

// Listener is actors.Listener.
type Listener interface {
	Moved(to messages.State, node string)
	Hear(lock *actor.PID, notice any)
}

// WaitListener is a Listener that is also told whom the request waits for.
type WaitListener interface {
	Listener
	// WaitsFor gives what is known of the predecessor without a query: its node, and again when
	// that has been read. A request that begins to wait inside its session before the session's
	// first node in the queue is known is never told: that would be a hundred thousand messages
	// before the first hand-over. nil, over a gateway: its servers do not answer, or the request
	// goes to another.
	WaitsFor(predecessor Predecessor)
}

// Predecessor describes the contender that a request waits for. Immutable. It is an alias of an
// unnamed type, so that a WaitListener outside package actors can name it.
type Predecessor = interface {
	// Contender gives its node and, where the node says so, its owner and since when. path is the
	// lock path.
	Contender(path string) messages.Contender
}

// TroubleListener is a Listener that is also told why reachable servers do not carry its request
// out.
type TroubleListener interface {
	Listener
	// Troubled says it, as messages.Cancelled.Detail does: from the second time on, and "" when it
	// is over.
	Troubled(text string)
}

// Tell sends a notice, from the telling actor, to the parent, the observers and the listener; to a
// parent that observes, once.
func (a *Audience) Tell(ctx actor.Context, notice any) {
	parent := ctx.Parent()
	if parent != nil && !slices.ContainsFunc(a.Observers, parent.Equal) {
		a.Send(ctx, parent, notice)
	}
	for _, pid := range a.Observers {
		a.Send(ctx, pid, notice)
	}
	if a.Listener != nil {
		a.Listener.Hear(ctx.Self(), notice)
	}
}

// Send sends a notice to one actor. For another node it is packed, with the sender.
func (a *Audience) Send(ctx actor.Context, to *actor.PID, notice any) {
	if a.Pack != nil && !SameNode(ctx.ActorSystem(), to) {
		packed := a.Pack(notice)
		if packed == notice { // protoactor's remote would log an error
			return
		}
		notice = packed
	}
	ctx.Request(to, notice)
}

// Record tells the observers of a transition.
func (a *Audience) Record(ctx actor.Context, t *messages.Transition) {
	if a.Listener != nil {
		a.Listener.Moved(t.To, t.Node)
	}
	for _, pid := range a.Observers {
		a.Send(ctx, pid, t)
	}
}

// Join makes the sender of a message an observer, of this node unless Pack is set, and tells it the
// current state: a transition from messages.StateNone.
func (a *Audience) Join(ctx actor.Context, now *messages.Transition) {
	observer := ctx.Sender()
	if observer == nil || a.Pack == nil && !SameNode(ctx.ActorSystem(), observer) {
		return
	}
	now.On = "Observe"
	a.Send(ctx, observer, now)
	if !slices.ContainsFunc(a.Observers, observer.Equal) {
		a.Observers = append(slices.Clip(a.Observers), observer) // others may share the slice
	}
}

// Troubled tells the listener what keeps the servers from carrying it out.
func (a *Audience) Troubled(text string) {
	if listener, ok := a.Listener.(TroubleListener); ok {
		listener.Troubled(text)
	}
}

// WaitsFor tells the listener for whom it waits.
func (a *Audience) WaitsFor(predecessor Predecessor) {
	if listener, ok := a.Listener.(WaitListener); ok {
		listener.WaitsFor(predecessor)
	}
}

// Stopped tells the listener that the actor has stopped.
func (a *Audience) Stopped(ctx actor.Context, msg *actor.Stopped) {
	if a.Listener != nil {
		a.Listener.Hear(ctx.Self(), msg)
	}
}

// Watched calls do, to watch or unwatch, with the owner, and a parent on another node.
func (a *Audience) Watched(ctx actor.Context, do func(*actor.PID)) {
	if a.Owner != nil {
		do(a.Owner)
	}
	if parent := ctx.Parent(); parent != nil && !SameNode(ctx.ActorSystem(), parent) {
		do(parent)
	}
}

// Begin watches the owner. Without actors.WithRemote it refuses actors on other nodes, with an
// error that wraps actors.ErrBadAcquire, and leaves those that can be told so.
func (a *Audience) Begin(ctx actor.Context) error {
	if a.Pack != nil {
		a.Watched(ctx, ctx.Watch)
		return nil
	}
	system := ctx.ActorSystem()
	unreached := func(pid *actor.PID) bool { return pid == nil || !SameNode(system, pid) }
	refuse := func(role string, pid *actor.PID) error {
		if pid == nil || !unreached(pid) {
			return nil
		}
		return fmt.Errorf("%w: the %s %s is on another node (%s): it must run in the session's process,"+
			" or see WithRemote", inspect.ErrBadQuery, role, pid.GetId(), pid.GetAddress())
	}
	err := cmp.Or(refuse("parent", ctx.Parent()), refuse("owner", a.Owner))
	for _, pid := range a.Observers {
		err = cmp.Or(err, refuse("observer", pid))
	}
	if err != nil {
		a.Observers, a.Owner = slices.DeleteFunc(slices.Clone(a.Observers), unreached), nil
		return err
	}
	a.Watched(ctx, ctx.Watch)
	return nil
}

// noRemote is the address of actors in a system without remote; earlier actors keep it.
const noRemote = "nonhost"

// SameNode reports whether an actor runs in this actor system.
func SameNode(system *actor.ActorSystem, pid *actor.PID) bool {
	return pid.GetAddress() == noRemote || pid.GetAddress() == system.Address()
}

// OwnerEnded reports whether a Terminated says that an owner has ended. AddressTerminated does not:
// an owner out of reach may still rely on the lock.
func OwnerEnded(msg *actor.Terminated) bool {
	return msg.Why != actor.TerminatedReason_AddressTerminated
}
