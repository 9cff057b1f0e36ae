package actors

import (
	"cmp"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// noRemote is the address of actors in a system that has no remote; actors spawned before it had
// one keep it.
const noRemote = "nonhost"

// sameNode tells whether an actor runs in this actor system.
func sameNode(system *actor.ActorSystem, pid *actor.PID) bool {
	return pid.GetAddress() == noRemote || pid.GetAddress() == system.Address()
}

// checkSameNode refuses actors on other nodes. An owner there cannot be relied on: when its node is
// unreachable it is told as terminated (AddressTerminated) while it may run on; notices are no
// protobuf messages and do not reach it; and they tell of times by this process's clock.
func checkSameNode(ctx actor.Context, owner *actor.PID, observers []*actor.PID) error {
	check := func(role string, pid *actor.PID) error {
		if pid == nil || sameNode(ctx.ActorSystem(), pid) {
			return nil
		}
		return fmt.Errorf("%w: the %s %s is on another node (%s): it must run in the session's process",
			ErrBadAcquire, role, pid.GetId(), pid.GetAddress())
	}
	if err := cmp.Or(check("parent", ctx.Parent()), check("owner", owner)); err != nil {
		return err
	}
	for _, pid := range observers {
		if err := check("observer", pid); err != nil {
			return err
		}
	}
	return nil
}

// onSameNode gives the actors that notices reach.
func onSameNode(system *actor.ActorSystem, pids []*actor.PID) []*actor.PID {
	var near []*actor.PID
	for _, pid := range pids {
		if pid != nil && sameNode(system, pid) {
			near = append(near, pid)
		}
	}
	return near
}

// ownerEnded tells whether a Terminated says that an owner has ended. AddressTerminated does not:
// the owner's node was not reached, and the owner may still rely on the lock.
func ownerEnded(msg *actor.Terminated) bool {
	return msg.Why != actor.TerminatedReason_AddressTerminated
}
