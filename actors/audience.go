package actors

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// audience are the actors that have to do with a lock actor, or with an actor of several locks,
// besides its parent.
type audience struct {
	owner     *actor.PID // its end means Release; nil for none
	observers []*actor.PID
	pack      func(message any) any // for other nodes; nil where those are refused
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
