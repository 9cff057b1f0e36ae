package actors

import (
	"os"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Address gives an actor's address, unique in its process: actor systems of one process all count
// from one.
func Address(system *actor.ActorSystem, of messages.ActorID) string {
	return system.ID + "/" + of.Address + "/" + of.ID
}

// Caller makes of an actor's Address a caller that no other process names: see
// messages.Acquire.Caller.
func Caller(actor string) string {
	return queue.Owner{Host: hostname(), PID: os.Getpid(), Actor: actor}.Waits()
}

// ownerData is what the contender's node says of who made it, at which place of a transaction, and of how many wait
// behind it in its cohort. It is made when it is needed: a request that waits does not keep it.
func ownerData(sp *coordinator.Spec, place, behind int) []byte {
	o := ownerOf(sp)
	o.Place, o.Behind = place, behind
	if sp.One != "" {
		o.ID = sp.GUID
	}
	return o.Encode()
}

// ownerOf is what there is to say of a request.
func ownerOf(sp *coordinator.Spec) queue.Owner {
	o := queue.Owner{Host: hostname(), PID: os.Getpid(), Actor: sp.By, Owner: sp.Want.Owner, Caller: sp.Want.Caller,
		Label: sp.Want.Label, Priority: sp.Want.Priority, Mode: sp.Want.Mode.String(), Reclaim: sp.Want.Reclaim,
		Detects: sp.Want.Deadlocks.Every > 0, Since: sp.Since.UTC()}
	if sp.Want.Cohort > 1 {
		o.Cohort = sp.Want.Cohort
	}
	return o
}

// hostname is asked for once: it is written into every node.
var hostname = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
})
