package actors

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// audience is everybody that a lock actor, or an actor of several locks, works for besides its
// parent. Lock options set it.
type audience struct {
	owner     *actor.PID // its end means Release; nil for none
	observers []*actor.PID
	listener  Listener              // nil for none; an actor of several locks has none
	requester string                // the node that asks over a gateway; "" for this one
	pack      func(message any) any // makes notices fit for other nodes; nil where those are refused
}

// Listener hears what a lock actor tells, without being an actor: package locks has one for each
// call of Lock. The lock actor calls its methods, one at a time; they must not block.
type Listener interface {
	// Moved tells every change of state. node is the contender's, "" while there is none.
	Moved(to messages.State, node string)
	// Hear takes the notices that a parent is sent, and *actor.Stopped as the last. After
	// *messages.Revoked the lock actor deletes the node only once Hear has returned, so that the
	// listener knows before anybody else holds.
	Hear(lock *actor.PID, notice any)
}

// WaitListener is a Listener that is also told whom the request waits for, when it begins to.
type WaitListener interface {
	Listener
	// Waits gives what is known of the predecessor without a further query: its node, and again when
	// that has been read. A request that begins to wait inside its session before the first node of
	// the session in the queue is known is told of nobody, also later: a hundred thousand messages
	// would go before the first hand-over.
	Waits(predecessor *Predecessor)
}

// Predecessor is what is known of the contender that a request waits for. It is immutable.
type Predecessor coordinator.Predecessor

// Contender gives the predecessor's node and, where the node says so, its owner and since when.
// path is that of the lock.
func (p *Predecessor) Contender(path string) messages.Contender {
	c := messages.Contender{Path: path, Node: p.Node, Asked: queue.IsRevokeRequest(p.Data)}
	o, known := queue.ParseOwner(p.Data)
	if !known && p.Spec != nil {
		o, known = carrier.OwnerOf(p.Spec), true
	}
	if known {
		c.Library = messages.LibraryTurnstile
		o.Describe(&c)
	}
	return c
}

// TroubleListener is a Listener that is also told what keeps its request from being carried out though there are servers.
type TroubleListener interface {
	Listener
	// Troubled says it in words, such as "the server hangs up on create container /x, 5 times": at the second time and
	// each that follows, and "" when it is over.
	Troubled(text string)
}

// LockOption changes how a lock actor works.
type LockOption func(*audience)

// WithObserver names actors that get every notice of the lock actor, as its parent does, and every
// messages.Transition. One on another node is refused, unless WithRemote is set.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(a *audience) { a.observers = append(a.observers, pids...) }
}

// WithOwner names an actor whose end means Release. The parent needs no naming: when it stops, its
// lock actors stop first. An owner that is restarted by its supervisor has not ended. One on
// another node is refused, unless WithRemote is set.
func WithOwner(pid *actor.PID) LockOption {
	return func(a *audience) { a.owner = pid }
}

// WithListener sets the listener.
func WithListener(to Listener) LockOption {
	return func(a *audience) { a.listener = to }
}

// WithRequester names the node for which a gateway asks. The nodes of one requester weigh at most a
// quarter of what those of the session may: see WithMaxNodeBytes. Package gateway sets it.
func WithRequester(node string) LockOption {
	return func(a *audience) { a.requester = node }
}

// WithRemote lets the parent, the owner and the observers of a lock actor run on other nodes. pack
// turns a message of package messages into one that protoactor's remote can send: wire.Pack, of
// package actors/gateway/wire. It is an argument so that programs without remote actors do not link
// gRPC.
//
// When the node of the owner, or of a parent, goes out of reach
// (actor.TerminatedReason_AddressTerminated), the owner has not ended: it may rely on the lock. The
// lock is given back, for messages.ReasonOwnerGone, at the end that the lease had at that moment.
// The owner cannot have been promised more. A request that waits is given up after a session
// timeout.
//
// An owner on another node gets notices late, or never, and no clock comes with them. To rely on
// the lock for a known time, use package gateway. NewAll refuses other nodes even so.
func WithRemote(pack func(message any) any) LockOption {
	return func(a *audience) { a.pack = pack }
}

// newAudience reads lock options.
func newAudience(opts []LockOption) (a audience) {
	for _, opt := range opts {
		opt(&a)
	}
	return a
}

// tell sends a notice to the parent and the observers; to a parent that observes, once. Its sender is
// the actor that tells it, so that an owner that was restarted knows whose it is.
func (a *audience) tell(ctx actor.Context, notice any) {
	parent := ctx.Parent()
	if parent != nil && !slices.ContainsFunc(a.observers, parent.Equal) {
		a.send(ctx, parent, notice)
	}
	for _, pid := range a.observers {
		a.send(ctx, pid, notice)
	}
}

// send tells one actor. What goes to another node is packed; the sender is in it, too.
func (a *audience) send(ctx actor.Context, to *actor.PID, notice any) {
	if a.pack != nil && !sameNode(ctx.ActorSystem(), to) {
		notice = a.pack(notice)
	}
	ctx.Request(to, notice)
}

// watch watches whom a lock actor belongs to. A parent on this node stops its lock actors itself.
func (a *audience) watch(ctx actor.Context) {
	if a.owner != nil {
		ctx.Watch(a.owner)
	}
	if parent := ctx.Parent(); parent != nil && !sameNode(ctx.ActorSystem(), parent) {
		ctx.Watch(parent)
	}
}

// unwatch undoes watch.
func (a *audience) unwatch(ctx actor.Context) {
	if a.owner != nil {
		ctx.Unwatch(a.owner)
	}
	if parent := ctx.Parent(); parent != nil && !sameNode(ctx.ActorSystem(), parent) {
		ctx.Unwatch(parent)
	}
}

// check refuses actors on other nodes where WithRemote is not set, because notices would not reach them, and leaves
// those that can be told of it.
func (a *audience) check(ctx actor.Context) error {
	if a.pack != nil {
		return nil
	}
	system := ctx.ActorSystem()
	unreached := func(pid *actor.PID) bool { return pid == nil || !sameNode(system, pid) }
	refuse := func(role string, pid *actor.PID) error {
		if pid == nil || !unreached(pid) {
			return nil
		}
		return fmt.Errorf("%w: the %s %s is on another node (%s): it must run in the session's process,"+
			" or see WithRemote", ErrBadAcquire, role, pid.GetId(), pid.GetAddress())
	}
	err := cmp.Or(refuse("parent", ctx.Parent()), refuse("owner", a.owner))
	for _, pid := range a.observers {
		err = cmp.Or(err, refuse("observer", pid))
	}
	if err != nil {
		a.observers, a.owner = slices.DeleteFunc(slices.Clone(a.observers), unreached), nil
	}
	return err
}

// Audience is everybody that a lock actor reports to: its parent, and those that lock options name.
// It is for lock actors of other packages. It belongs to one lock actor, which calls it from
// Receive.
type Audience struct{ audience }

// NewAudience reads lock options. WithRemote changes nothing: the audience runs on the lock actor's
// node.
func NewAudience(opts ...LockOption) *Audience {
	a := &Audience{newAudience(opts)}
	a.pack = nil
	return a
}

// Begin watches the owner. The error wraps ErrBadAcquire when one of the audience is on another
// node; the others can be told of it.
func (a *Audience) Begin(ctx actor.Context) error {
	if err := a.check(ctx); err != nil {
		return err
	}
	a.watch(ctx)
	return nil
}

// Tell tells the parent, the observers and the listener.
func (a *Audience) Tell(ctx actor.Context, notice any) {
	a.tell(ctx, notice)
	if a.listener != nil {
		a.listener.Hear(ctx.Self(), notice)
	}
}

// Record tells the observers and the listener a change of state.
func (a *Audience) Record(ctx actor.Context, t *messages.Transition) {
	if a.listener != nil {
		a.listener.Moved(t.To, t.Node)
	}
	for _, pid := range a.observers {
		ctx.Request(pid, t)
	}
}

// Troubled tells the listener what keeps the request from being carried out: see TroubleListener.
func (a *Audience) Troubled(text string) {
	if listener, ok := a.listener.(TroubleListener); ok {
		listener.Troubled(text)
	}
}

// OwnerEnded tells whether a Terminated says that the owner has ended, which means Release.
func (a *Audience) OwnerEnded(msg *actor.Terminated) bool { return ownerEnded(msg) }

// End stops watching the owner: the lock actor is stopping.
func (a *Audience) End(ctx actor.Context) { a.unwatch(ctx) }

// Stopped tells the listener that the lock actor has stopped.
func (a *Audience) Stopped(ctx actor.Context, msg *actor.Stopped) {
	if a.listener != nil {
		a.listener.Hear(ctx.Self(), msg)
	}
}

// Address gives an actor's address, unique in its process: actor systems of one process all count
// from one.
func Address(system *actor.ActorSystem, of messages.ActorID) string {
	return system.ID + "/" + of.Address + "/" + of.ID
}

// Caller makes of an actor's Address a caller that no other process names: see
// messages.Acquire.Caller.
func Caller(actor string) string {
	return carrier.Owner(actor).Waits()
}

// noRemote is the address of actors in a system that has no remote; actors spawned before it had
// one keep it.
const noRemote = "nonhost"

// sameNode tells whether an actor runs in this actor system.
func sameNode(system *actor.ActorSystem, pid *actor.PID) bool {
	return pid.GetAddress() == noRemote || pid.GetAddress() == system.Address()
}

// ownerEnded tells whether a Terminated says that an owner has ended. AddressTerminated does not:
// the owner's node is out of reach, and the owner may still rely on the lock.
func ownerEnded(msg *actor.Terminated) bool {
	return msg.Why != actor.TerminatedReason_AddressTerminated
}
